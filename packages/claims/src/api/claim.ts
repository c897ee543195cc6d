import type { ObjectRef, Stored } from '@tenure/kube'
import type { ConfigMap, Secret } from '@tenure/kube/kinds'
import { isJsonObject } from '@tenure/kube/model'
import { parseTime } from '@tenure/runtime'
import { ANNOTATIONS, DATA, DEFAULT_POOL, LABELS, OPERATOR } from './names.ts'
import { claimName } from './id.ts'

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
  /** Random value of its hand-out; see `ANNOTATIONS.handOut`. */
  readonly handOut: string | undefined
  /** Some of its resources are described only in its Secret. */
  readonly hasSecrets: boolean
  /** Some of its return values are only in its Secret. */
  readonly hasSecretReturns: boolean
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
    handOut: annotations[ANNOTATIONS.handOut],
    hasSecrets: annotations[ANNOTATIONS.hasSecrets] === 'true',
    hasSecretReturns: annotations[ANNOTATIONS.hasSecretReturns] === 'true',
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

export function claimRef(namespace: string, id: string): ObjectRef {
  return { namespace, name: claimName(id) }
}
