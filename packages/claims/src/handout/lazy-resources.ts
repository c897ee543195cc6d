import { isAlreadyExists, type Kind, type KubeApi, type KubeObject, metadataOf, type Stored } from '@tenure/kube'
import { type ConfigMap, Secret } from '@tenure/kube/kinds'
import { asJsonObject, type JsonObject } from '@tenure/kube/model'
import { childFailure } from '../api/child-failure.ts'
import { childOf, claimSecret } from '../api/children.ts'
import { type Claim, resourceStatusesOf, type ResourceStatus, returnValuesOf } from '../api/claim.ts'
import { claimSecretName } from '../api/id.ts'
import { type ClaimPart, isReduced, isSameResource, manifestsOf, partsOf } from '../api/manifests.ts'
import { DATA } from '../api/names.ts'
import { secretAnnotations, statusData } from '../api/new-claim.ts'
import { nameTaken } from '../controllers/claim/plan.ts'
import { isLazy, returnValuesOf as renderedReturnValues } from '../template/return-values.ts'
import type { Manifest } from '../template/types.ts'
import type { ClaimMakerContext } from './make-claim.ts'
import type { Pool } from './pools.ts'
import { isUncertain } from './uncertain-writes.ts'

/** Lazy resources of a member, as they are to be created at its hand-out. */
export interface LazyResources {
  readonly manifests: readonly Manifest[]
  readonly kinds: readonly Kind[]
  /** Changes of the claim's data and annotations that belong to the same write as the hand-out. */
  readonly data: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** The new content of the claim's Secret; undefined if it does not change. */
  readonly secret: ClaimPart | undefined
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
  if (values === undefined && !stored.some(isLazy) && !member.hasSecretReturns) return NONE
  const needsSecret =
    values !== undefined || member.hasSecretReturns || stored.some((each) => isLazy(each) && isReduced(each))
  const secret = member.hasSecrets && needsSecret ? await readSecret(context, member.object) : undefined
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
    data: manifests.length > 0 ? statusAfter(member, stored, manifests) : {},
    returnValues: kept?.returnValues ?? {},
  }
}

async function prepareWithValues(
  context: LazyContext,
  pool: Pool,
  member: Claim,
  { values, kept }: { readonly values: JsonObject; readonly kept: ClaimPart | undefined },
): Promise<LazyResources> {
  const rendered = pool.source.current().render({ id: member.id, values })
  const resources = rendered.resources.filter((resource) => resource.isLazy)
  if (resources.length === 0) return { ...NONE, returnValues: kept?.returnValues ?? {} }
  const manifests = resources.map(({ manifest }) => manifest)
  const kinds = await context.kinds.resolve(manifests, context.signal)
  // The other objects exist as they were rendered for the pool, and so do their return values.
  const { open, secret } = partsOf({ resources, returnValues: renderedReturnValues(manifests) }, true)
  const eager = manifestsOf(member.object).filter((manifest) => !isLazy(manifest))
  const all = [...eager, ...open.manifests]
  const next = {
    manifests: [...(kept?.manifests ?? []).filter((manifest) => !isLazy(manifest)), ...(secret?.manifests ?? [])],
    returnValues: { ...kept?.returnValues, ...secret?.returnValues },
  }
  return {
    manifests,
    kinds,
    data: {
      [DATA.renderedResources]: JSON.stringify(all),
      ...statusAfter(member, all, manifests),
    },
    annotations: secretAnnotations(next),
    secret: next,
    returnValues: next.returnValues,
  }
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

/** The status of a member after its hand-out, in the order of its manifests: with its lazy resources. */
function statusAfter(
  member: Claim,
  manifests: readonly Manifest[],
  lazy: readonly Manifest[],
): Readonly<Record<string, string>> {
  const namespace = member.object.metadata.namespace ?? ''
  const isReady = lazy.every(isReadyWhenCreated)
  const known = resourceStatusesOf(member.object)
  const resources = manifests.map((manifest): ResourceStatus => {
    const { kind, metadata } = manifest
    const { name } = metadata
    const before = isLazy(manifest) ? undefined : known.find((each) => each.kind === kind && each.name === name)
    if (before) return before
    const exists = isReady && isLazy(manifest)
    return { kind, name, namespace, ready: exists, message: exists ? 'resource exists' : 'not created yet' }
  })
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
    return kind
      ? [createChild(api, { kind, name: manifest.metadata.name, claim }, childOf(claim, manifest), signal)]
      : []
  })
  if (secret) work.push(writeSecret(api, claimSecret(claim, secret), signal))
  // All end before the first failure is reported: a claim that is given up must not get another child.
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason as Error
}

interface ChildCreation {
  readonly kind: Kind
  readonly name: string
  readonly claim: Stored<ConfigMap>
}

async function createChild(
  api: KubeApi,
  { kind, name, claim }: ChildCreation,
  child: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await api.create(kind, child, { signal })
      return
    } catch (error) {
      if (isAlreadyExists(error)) break
      // The response may be lost: the second attempt tells.
      if (attempt > 1 || !isUncertain(error, signal)) throw childFailure(kind.kind, name)(error)
    }
  }
  const { metadata } = await api.get(metadataOf(kind), { name, namespace: claim.metadata.namespace }, { signal })
  if (!metadata.ownerReferences?.some(({ uid }) => uid === claim.metadata.uid)) throw nameTaken(kind.kind, name)
}

/** A forced apply creates the Secret or replaces its content, and the client repeats it after a lost response. */
async function writeSecret(api: KubeApi, secret: Secret, signal: AbortSignal): Promise<void> {
  await api.apply(Secret, secret, { force: true, signal })
}

async function readSecret({ api, signal }: LazyContext, { metadata }: Stored<ConfigMap>): Promise<Stored<Secret>> {
  return await api.get(Secret, { name: claimSecretName(metadata.name), namespace: metadata.namespace }, { signal })
}
