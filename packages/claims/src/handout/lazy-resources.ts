import { isAlreadyExists, type Kind, type KubeApi, metadataOf, type Stored } from '@tenure/kube'
import { type ConfigMap, Secret } from '@tenure/kube/kinds'
import { asJsonObject, type JsonObject } from '@tenure/kube/model'
import {
  type Claim,
  childOf,
  claimSecret,
  isLazy,
  isSameResource,
  manifestsOf,
  partsOf,
  resourceStatusesOf,
  type ResourceStatus,
  returnValuesOf,
  statusData,
} from '../api/claim.ts'
import { ANNOTATIONS, DATA } from '../api/names.ts'
import { nameTaken } from '../controllers/claim/plan.ts'
import type { Manifest } from '../template/types.ts'
import type { ClaimMakerContext } from './make-claim.ts'
import type { Pool } from './pools.ts'

/** Lazy resources of a member, as they are to be created at its hand-out. */
export interface LazyResources {
  readonly manifests: readonly Manifest[]
  readonly kinds: readonly Kind[]
  /** Changes of the claim's data and annotations that belong to the same write as the hand-out. */
  readonly data: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** The new content of the claim's Secret; undefined if it does not change. */
  readonly secret:
    | { readonly manifests: readonly Manifest[]; readonly returnValues: Readonly<Record<string, string>> }
    | undefined
  readonly returnValues: Readonly<Record<string, string>>
}

const NONE: LazyResources = {
  manifests: [],
  kinds: [],
  data: {},
  annotations: {},
  secret: undefined,
  returnValues: {},
}

export interface LazyContext extends ClaimMakerContext {
  readonly signal: AbortSignal
}

/** Prepares the lazy resources of a member: those rendered with the pool, or with the caller's values rendered now. */
export async function prepareLazy(
  context: LazyContext,
  pool: Pool,
  member: Claim,
  values: JsonObject | undefined,
): Promise<LazyResources> {
  const stored = manifestsOf(member.object)
  if (values === undefined && !stored.some(isLazy) && !member.hasSecrets) return NONE
  const secret = member.hasSecrets ? await readSecret(context, member.object) : undefined
  const kept = secret ? { manifests: manifestsOf(secret), returnValues: returnValuesOf(secret) } : undefined
  if (values !== undefined) return await prepareWithValues(context, pool, member, { values, kept })
  const manifests = stored
    .filter(isLazy)
    .map((manifest) => kept?.manifests.find((described) => isSameResource(described, manifest)) ?? manifest)
  const kinds = await context.kinds.resolve(manifests, context.signal)
  return {
    ...NONE,
    manifests,
    kinds,
    data: manifests.length > 0 ? statusAfter(member, manifests) : {},
    returnValues: kept?.returnValues ?? {},
  }
}

async function prepareWithValues(
  context: LazyContext,
  pool: Pool,
  member: Claim,
  { values, kept }: { readonly values: JsonObject; readonly kept: LazyResources['secret'] },
): Promise<LazyResources> {
  const rendered = pool.source.current().render({ id: member.id, values })
  const resources = rendered.resources.filter((resource) => resource.isLazy)
  if (resources.length === 0) return { ...NONE, returnValues: kept?.returnValues ?? {} }
  const manifests = resources.map(({ manifest }) => manifest)
  const kinds = await context.kinds.resolve(manifests, context.signal)
  const { open, secret } = partsOf(
    { resources, returnValues: returnValuesOfLazy(rendered.returnValues, manifests) },
    true,
  )
  const eager = manifestsOf(member.object).filter((manifest) => !isLazy(manifest))
  const returnValues = { ...kept?.returnValues, ...secret?.returnValues }
  const keptManifests = (kept?.manifests ?? []).filter((manifest) => !isLazy(manifest))
  return {
    manifests,
    kinds,
    data: {
      [DATA.renderedResources]: JSON.stringify([...eager, ...open.manifests]),
      ...statusAfter(member, manifests),
    },
    annotations: { [ANNOTATIONS.hasSecrets]: 'true' },
    secret: { manifests: [...keptManifests, ...(secret?.manifests ?? [])], returnValues },
    returnValues,
  }
}

/** The return values of one rendering that lazy objects return; the others stay as they were rendered for the pool. */
function returnValuesOfLazy(
  all: Readonly<Record<string, string>>,
  manifests: readonly Manifest[],
): Readonly<Record<string, string>> {
  const returns = manifests.some(({ metadata }) => 'claim.controller/return' in asJsonObject(metadata['annotations']))
  return returns ? all : {}
}

/** Kinds that are ready as soon as they exist: the claim stays ready, and its status needs no further write. */
const READY_WHEN_CREATED: ReadonlySet<string> = new Set([
  'v1 ConfigMap',
  'v1 Secret',
  'v1 ServiceAccount',
  'networking.k8s.io/v1 NetworkPolicy',
  'rbac.authorization.k8s.io/v1 Role',
  'rbac.authorization.k8s.io/v1 RoleBinding',
])

/** The status of a member after its hand-out: with its lazy resources. */
function statusAfter(member: Claim, lazy: readonly Manifest[]): Readonly<Record<string, string>> {
  const namespace = member.object.metadata.namespace ?? ''
  const isReady = lazy.every(isReadyWhenCreated)
  const added = lazy.map(({ kind, metadata }): ResourceStatus => {
    const message = isReady ? 'resource exists' : 'not created yet'
    return { kind, name: metadata.name, namespace, ready: isReady, message }
  })
  const resources = [...resourceStatusesOf(member.object), ...added]
  if (isReady && member.status === 'ready') return statusData('ready', 'all resources ready', resources)
  const ready = resources.filter((resource) => resource.ready).length
  return statusData('pending', `${ready}/${resources.length} resources ready`, resources)
}

function isReadyWhenCreated({ apiVersion, kind, ...manifest }: Manifest): boolean {
  if (apiVersion === 'v1' && kind === 'Service') return asJsonObject(manifest['spec'])['type'] !== 'LoadBalancer'
  return READY_WHEN_CREATED.has(`${apiVersion} ${kind}`)
}

/** Creates the lazy resources of a claim that was handed out, and writes its Secret. */
export async function createLazy(
  { api, signal }: LazyContext,
  claim: Stored<ConfigMap>,
  { kinds, manifests, secret }: LazyResources,
): Promise<void> {
  const work = manifests.flatMap((manifest, at) => {
    const kind = kinds[at]
    return kind ? [createChild(api, kind, childOf(claim, manifest), claim, signal)] : []
  })
  if (secret) work.push(writeSecret(api, claimSecret(claim, secret), signal))
  await Promise.all(work)
}

async function createChild(
  api: KubeApi,
  kind: Kind,
  child: Manifest,
  claim: Stored<ConfigMap>,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Rendered manifests are validated by the API server.
    await api.create(kind, child, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const ref = { name: child.metadata.name, namespace: claim.metadata.namespace }
    const { metadata } = await api.get(metadataOf(kind), ref, { signal })
    if (!metadata.ownerReferences?.some(({ uid }) => uid === claim.metadata.uid)) throw nameTaken(kind.kind, ref.name)
  }
}

async function writeSecret(api: KubeApi, secret: Secret, signal: AbortSignal): Promise<void> {
  try {
    await api.create(Secret, secret, { signal })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    await api.apply(Secret, secret, { force: true, signal })
  }
}

async function readSecret({ api, signal }: LazyContext, { metadata }: Stored<ConfigMap>): Promise<Stored<Secret>> {
  return await api.get(Secret, { name: metadata.name, namespace: metadata.namespace }, { signal })
}
