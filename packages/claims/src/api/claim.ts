import { type ObjectRef, type Stored, TenureError } from '@tenure/kube'
import type { ConfigMap, Secret } from '@tenure/kube/kinds'
import { asJsonObject, isJsonObject } from '@tenure/kube/model'
import { ceilSecond, parseTime, rfc3339 } from '@tenure/runtime'
import { ANNOTATIONS, DATA, DEFAULT_POOL, LABELS, OPERATOR, TEMPLATE_ANNOTATIONS } from './names.ts'
import { claimName } from './id.ts'
import type { Manifest, RenderedClaim } from '../template/types.ts'

export type ClaimStatus = 'pending' | 'ready' | 'failed'

/**
 * Why a claim cannot become ready.
 * - `disrupted`: its pod was evicted or preempted, or its node drains. Another member may do better at once.
 * - `stuck`: a container cannot start. It may recover.
 * - `failed`: a resource failed, or it was rejected.
 */
export type FailureCause = 'disrupted' | 'stuck' | 'failed'

/** One entry of `claimResourcesStatus`. */
export interface ResourceStatus {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly ready: boolean
  readonly message: string
}

/** A claim, as its ConfigMap describes it. */
export interface Claim {
  readonly id: string
  readonly pool: string
  readonly object: Stored<ConfigMap>
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Undefined while the claim sits in the pool. */
  readonly claimedAt: number | undefined
  /** Undefined without a valid time. */
  readonly expiresAt: number | undefined
  readonly isPreProvisioned: boolean
  /** It sits in the pool. */
  readonly isIdle: boolean
  readonly isTerminating: boolean
  readonly status: ClaimStatus
  readonly message: string
  readonly failure: FailureCause | undefined
  readonly revision: string | undefined
  /** Hashes of the Idempotency-Key and the request that it was taken with. */
  readonly idempotencyKey: string | undefined
  /** Some of its resources are described only in its Secret. */
  readonly hasSecrets: boolean
}

const claims = new WeakMap<object, Claim>()

/** Reads a claim. Undefined if the ConfigMap is not one: its name does not follow from its id. */
export function claimOf(object: Stored<ConfigMap>): Claim | undefined {
  const known = claims.get(object)
  if (known) return known
  const { name, labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = object.metadata
  const id = labels[LABELS.id]
  if (id === undefined || name !== claimName(id) || labels[LABELS.managedBy] !== OPERATOR) return undefined
  const isPreProvisioned = annotations[ANNOTATIONS.preProvisioned] === 'true'
  const claimedAt = timeOf(annotations[ANNOTATIONS.claimedAt])
  const claim: Claim = {
    id,
    object,
    pool: labels[LABELS.pool] ?? DEFAULT_POOL,
    createdAt: timeOf(creationTimestamp) ?? 0,
    claimedAt,
    expiresAt: timeOf(annotations[ANNOTATIONS.expiresAt]),
    isPreProvisioned,
    isIdle: isPreProvisioned && annotations[ANNOTATIONS.claimedAt] === undefined,
    isTerminating: deletionTimestamp !== undefined,
    status: statusOf(object.data?.[DATA.status]),
    message: object.data?.[DATA.message] ?? '',
    failure: failureOf(annotations[ANNOTATIONS.failure]),
    revision: annotations[ANNOTATIONS.revision],
    idempotencyKey: annotations[ANNOTATIONS.idempotencyKey],
    hasSecrets: annotations[ANNOTATIONS.hasSecrets] === 'true',
  }
  claims.set(object, claim)
  return claim
}

/** When a claim that was handed out ends. Undefined in the pool, and without a valid time. */
export function claimExpiry(object: Stored<ConfigMap>): number | undefined {
  const claim = claimOf(object)
  return claim && !claim.isIdle ? claim.expiresAt : undefined
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTime(text)
}

function statusOf(text: string | undefined): ClaimStatus {
  return text === 'ready' || text === 'failed' ? text : 'pending'
}

function failureOf(text: string | undefined): FailureCause | undefined {
  return text === 'disrupted' || text === 'stuck' || text === 'failed' ? text : undefined
}

const manifests = new WeakMap<object, readonly Manifest[]>()

/** The rendered resources in the data of a claim or of its Secret. Secrets are reduced in a claim: see `reduced`. */
export function manifestsOf(object: Stored<ConfigMap> | Stored<Secret>): readonly Manifest[] {
  const known = manifests.get(object)
  if (known) return known
  const text = object.data?.[DATA.renderedResources] ?? '[]'
  const json = object.kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    // A hand-made claim: the check below reports it.
  }
  if (!Array.isArray(parsed) || !parsed.every(isManifest)) {
    throw new TenureError(
      'TENURE_CLAIM_INVALID',
      `${object.metadata.name} has no valid ${DATA.renderedResources}: release it and take another claim.`,
    )
  }
  manifests.set(object, parsed)
  return parsed
}

function isManifest(value: unknown): value is Manifest {
  if (!isJsonObject(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string') return false
  return typeof asJsonObject(value['metadata'])['name'] === 'string'
}

export function returnValuesOf(object: Stored<ConfigMap> | Stored<Secret>): Readonly<Record<string, string>> {
  const text = object.data?.[DATA.returnValues]
  if (text === undefined) return {}
  const json = object.kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text
  try {
    const parsed: unknown = JSON.parse(json)
    return isJsonObject(parsed) ? (parsed as Record<string, string>) : {}
  } catch {
    return {}
  }
}

export function resourceStatusesOf(object: Stored<ConfigMap>): readonly ResourceStatus[] {
  try {
    const parsed: unknown = JSON.parse(object.data?.[DATA.resourcesStatus] ?? '[]')
    return Array.isArray(parsed) ? (parsed as readonly ResourceStatus[]) : []
  } catch {
    return []
  }
}

export function isLazy({ metadata }: Manifest): boolean {
  const annotations = asJsonObject(metadata['annotations'])
  return TEMPLATE_ANNOTATIONS.lazy.some((name) => annotations[name] === 'true')
}

/** A reduced manifest says only that the resource exists. Its description is in the Secret of the claim. */
export function isReduced(manifest: Manifest): boolean {
  return asJsonObject(manifest.metadata['annotations'])[ANNOTATIONS.hasSecrets] === 'true'
}

function reduced({ apiVersion, kind, metadata }: Manifest): Manifest {
  const marks = { [ANNOTATIONS.hasSecrets]: 'true' } as Record<string, string>
  if (isLazy({ apiVersion, kind, metadata })) marks[TEMPLATE_ANNOTATIONS.lazy[0]] = 'true'
  return { apiVersion, kind, metadata: { name: metadata.name, annotations: marks } }
}

export function isSameResource(a: Manifest, b: Manifest): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.metadata.name === b.metadata.name
}

/** The open part of a claim, and the part that only its Secret may hold. */
export interface StoredParts {
  readonly open: { readonly manifests: readonly Manifest[]; readonly returnValues: Readonly<Record<string, string>> }
  /** Undefined if nothing is secret. */
  readonly secret:
    | { readonly manifests: readonly Manifest[]; readonly returnValues: Readonly<Record<string, string>> }
    | undefined
}

/**
 * Separates what must not be readable in a ConfigMap: Secrets, and with `isPersonal` everything, because it may contain
 * values of the caller. Return values belong to the object that returns them.
 */
export function partsOf(rendered: RenderedClaim, isPersonal: boolean): StoredParts {
  const all = rendered.resources.map(({ manifest }) => manifest)
  const isSecret = (manifest: Manifest): boolean =>
    isPersonal || (manifest.kind === 'Secret' && manifest.apiVersion === 'v1')
  const secrets = all.filter(isSecret)
  if (secrets.length === 0) return { open: { manifests: all, returnValues: rendered.returnValues }, secret: undefined }
  const returnsOfSecrets = secrets.some(({ metadata }) =>
    Object.hasOwn(asJsonObject(metadata['annotations']), TEMPLATE_ANNOTATIONS.return),
  )
  return {
    open: {
      manifests: all.map((manifest) => (isSecret(manifest) ? reduced(manifest) : manifest)),
      returnValues: returnsOfSecrets ? {} : rendered.returnValues,
    },
    secret: { manifests: secrets, returnValues: returnsOfSecrets ? rendered.returnValues : {} },
  }
}

export interface NewClaim {
  readonly id: string
  readonly namespace: string
  readonly pool: string
  readonly revision: string
  readonly parts: StoredParts
  /** The ConfigMap of the values: the claim goes with it. Default: no owner. */
  readonly owner?: { readonly name: string; readonly uid: string } | undefined
  /** Undefined for a member of the pool. */
  readonly handOut: HandOut | undefined
}

/** The facts that a hand-out adds to a claim. */
export interface HandOut {
  /** Milliseconds since 1970. */
  readonly claimedAt: number
  readonly expiresAt: number
  /** See `ANNOTATIONS.handOut`. */
  readonly nonce: string
  /** Hash of the Idempotency-Key. Default: none. */
  readonly idempotencyKey?: string | undefined
  /** Hash of the caller. Default: not counted. */
  readonly caller?: string | undefined
}

export function handOutAnnotations({
  claimedAt,
  expiresAt,
  nonce,
  idempotencyKey,
}: HandOut): Readonly<Record<string, string>> {
  return {
    [ANNOTATIONS.claimedAt]: rfc3339(claimedAt),
    [ANNOTATIONS.expiresAt]: expiryText(expiresAt),
    [ANNOTATIONS.handOut]: nonce,
    ...(idempotencyKey !== undefined && { [ANNOTATIONS.idempotencyKey]: idempotencyKey }),
  }
}

/** Rounded up to whole seconds, so that no claim ends early. */
export function expiryText(milliseconds: number): string {
  return rfc3339(ceilSecond(milliseconds))
}

/** The ConfigMap of a new claim. */
export function newClaim({ id, namespace, pool, revision, parts, owner, handOut }: NewClaim): ConfigMap {
  const name = claimName(id)
  const { manifests: open, returnValues } = parts.open
  const waiting = open.filter((manifest) => handOut !== undefined || !isLazy(manifest))
  return {
    metadata: {
      name,
      namespace,
      labels: {
        [LABELS.managedBy]: OPERATOR,
        [LABELS.claim]: name,
        [LABELS.id]: id,
        [LABELS.pool]: pool,
        ...(handOut?.caller !== undefined && { [LABELS.caller]: handOut.caller }),
      },
      annotations: {
        [ANNOTATIONS.createdBy]: OPERATOR,
        [ANNOTATIONS.preProvisioned]: String(handOut === undefined),
        [ANNOTATIONS.revision]: revision,
        ...(parts.secret && { [ANNOTATIONS.hasSecrets]: 'true' }),
        ...(handOut && handOutAnnotations(handOut)),
      },
      ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', ...owner }] }),
    },
    data: {
      [DATA.renderedResources]: JSON.stringify(open),
      [DATA.returnValues]: JSON.stringify(returnValues),
      ...statusData(
        'pending',
        'waiting for resources to be created',
        waiting.map((manifest) => notCreated(manifest, namespace)),
      ),
    },
  }
}

function notCreated({ kind, metadata }: Manifest, namespace: string): ResourceStatus {
  return { kind, name: metadata.name, namespace, ready: false, message: 'not created yet' }
}

/** The part of a claim's data that reports its state. */
export function statusData(
  status: ClaimStatus,
  message: string,
  resources: readonly ResourceStatus[],
): Readonly<Record<string, string>> {
  return {
    [DATA.status]: status,
    [DATA.message]: message,
    [DATA.resourcesStatus]: JSON.stringify(resources),
  }
}

/** The Secret with the parts of a claim that must stay secret; it goes with the claim. */
export function claimSecret(claim: Stored<ConfigMap>, secret: NonNullable<StoredParts['secret']>): Secret {
  const { name, namespace = '' } = claim.metadata
  return {
    metadata: { name, namespace, labels: childLabels(name), ownerReferences: [ownerReference(claim)] },
    type: 'Opaque',
    stringData: {
      [DATA.renderedResources]: JSON.stringify(secret.manifests),
      [DATA.returnValues]: JSON.stringify(secret.returnValues),
    },
  }
}

export function childLabels(claim: string): Readonly<Record<string, string>> {
  return { [LABELS.managedBy]: OPERATOR, [LABELS.claim]: claim }
}

/** A child of a claim, ready to be created: with our labels, in the namespace of the claim, controlled by it. */
export function childOf(claim: Stored<ConfigMap>, manifest: Manifest): Manifest {
  const { name, namespace = '' } = claim.metadata
  const labels = { ...asJsonObject(manifest.metadata['labels']), ...childLabels(name) }
  return {
    ...manifest,
    metadata: { ...manifest.metadata, namespace, labels, ownerReferences: [ownerReference(claim)] },
  }
}

function ownerReference({ metadata }: Stored<ConfigMap>) {
  const { name, uid } = metadata
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true, blockOwnerDeletion: true }
}

export function claimRef(namespace: string, id: string): ObjectRef {
  return { namespace, name: claimName(id) }
}
