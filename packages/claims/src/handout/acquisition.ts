import {
  abortReason,
  asError,
  type Clock,
  isConflict,
  isNotFound,
  mergePatch,
  type Random,
  randomSuffix,
  type Stored,
  TenureError,
} from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import { type Claim, claimOf, claimRef, returnValuesOf } from '../api/claim.ts'
import { newClaimId } from '../api/id.ts'
import { LABELS } from '../api/names.ts'
import { handOutAnnotations, type HandOut } from '../api/new-claim.ts'
import { ClaimTemplateError } from '../template/types.ts'
import type { AbandonedClaims } from './abandoned-claims.ts'
import type { ClaimView } from './claim-view.ts'
import { ClaimFailure } from './errors.ts'
import { createLazy, type LazyResources, prepareLazy } from './lazy-resources.ts'
import { type ClaimMakerContext, makeClaim } from './make-claim.ts'
import type { Members } from './members.ts'
import type { Pool } from './pools.ts'
import type { TrackedClaim } from './tracked-claim.ts'
import { isUncertain, orUndefined } from './uncertain-writes.ts'

/** Hand-outs of one call that may have no known outcome. Each costs a read. */
const MAX_UNCERTAIN_ATTEMPTS = 3

export interface AcquisitionContext extends ClaimMakerContext {
  readonly clock: Clock
  readonly random: Random
  readonly members: Members
  readonly view: ClaimView
  readonly abandoned: AbandonedClaims
}

export interface AcquisitionRequest {
  readonly pool: Pool
  /** Milliseconds. */
  readonly ttl: number
  readonly values: JsonObject | undefined
  readonly caller: string | undefined
  readonly idempotencyKey: string | undefined
  /** Aborts when the caller has left. A write that was sent is completed: its outcome must be known. */
  readonly left: AbortSignal
  /** Aborts when acquiring the claim takes too long. */
  readonly signal: AbortSignal
  /** Called when the view shows the claim as the caller's. */
  readonly onShown: () => void
}

/** A claim that is a caller's, and may not be ready yet. */
export interface Acquired {
  readonly id: string
  readonly object: Stored<ConfigMap>
  readonly nonce: string
  readonly isWarm: boolean
  readonly returnValues: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Follows the claim since it was written. */
  readonly tracked: TrackedClaim
}

/** Hands out a member of the pool by one conditional write, or makes a claim. */
export async function acquire(context: AcquisitionContext, request: AcquisitionRequest): Promise<Acquired> {
  return (await handOut(context, request)) ?? (await makeFresh(context, request))
}

/** Undefined if the pool has no member to hand out. */
async function handOut(context: AcquisitionContext, request: AcquisitionRequest): Promise<Acquired | undefined> {
  const { members } = context
  const { pool } = request
  const { revision } = pool.source.current()
  for (let uncertain = 0; uncertain < MAX_UNCERTAIN_ATTEMPTS;) {
    refuseIfLeft(request)
    const member = members.reserve(pool.name, revision)
    if (!member) return undefined
    let hasChanged = false
    try {
      const result = await handOutMember(context, request, member)
      if (typeof result === 'object') return result
      hasChanged = result === 'changed'
      if (result === 'not-sent') uncertain++
    } finally {
      if (hasChanged) members.drop(member)
      else members.free(member)
    }
  }
  return undefined
}

/**
 * `changed`: another replica was faster, or the member is no longer as it was. `not-sent`: the write was lost on its way
 * to the server, and the member is as it was.
 */
async function handOutMember(
  context: AcquisitionContext,
  request: AcquisitionRequest,
  member: Claim,
): Promise<Acquired | 'changed' | 'not-sent'> {
  const { abandoned, clock, random, view } = context
  const { pool, signal, values } = request
  const { id } = member
  const lazyContext = { ...context, signal }
  const lazy = await orChanged(prepareLazy(lazyContext, pool, member, values))
  if (lazy === 'changed') return 'changed'
  refuseIfLeft(request)
  const out = newHandOut(request, clock.now(), random)
  const object = await writeHandOut(context, member, out, { lazy, signal })
  if (typeof object === 'string') return object
  const tracked = view.track(object)
  request.onShown()
  try {
    await createLazy(lazyContext, object, lazy)
  } catch (error) {
    tracked.end()
    abandoned.add(id, object, out.nonce)
    throw error
  }
  const returnValues = { ...returnValuesOf(object), ...lazy.returnValues }
  return { id, object, nonce: out.nonce, isWarm: true, returnValues, expiresAt: expiryOf(object, out), tracked }
}

/** A member whose Secret is missing, because it is on its way or was removed, or that cannot be read, is left to the pool. */
async function orChanged<T>(preparing: Promise<T>): Promise<T | 'changed'> {
  try {
    return await preparing
  } catch (error) {
    if (isNotFound(error) || (error instanceof TenureError && error.code === 'TENURE_CLAIM_INVALID')) return 'changed'
    throw error
  }
}

async function writeHandOut(
  { abandoned, api, namespace }: AcquisitionContext,
  member: Claim,
  out: HandOut,
  { lazy, signal }: { readonly lazy: LazyResources; readonly signal: AbortSignal },
): Promise<Stored<ConfigMap> | 'changed' | 'not-sent'> {
  const { id } = member
  try {
    return await api.patch(ConfigMap, member.object.metadata, handOutPatch(member, out, lazy), { signal })
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return 'changed'
    if (!isUncertain(error, signal)) throw error
    try {
      const stored = await orUndefined(api.get(ConfigMap, claimRef(namespace, id), { signal }))
      if (stored && claimOf(stored)?.handOut === out.nonce) return stored
      // The server may still carry the write out, unless the member has changed: then its precondition fails.
      const hasChanged = stored?.metadata.resourceVersion !== member.object.metadata.resourceVersion
      if (hasChanged) return 'changed'
      abandoned.addUncertain(id, out.nonce)
      return 'not-sent'
    } catch {
      abandoned.addUncertain(id, out.nonce)
      throw error
    }
  }
}

async function makeFresh(context: AcquisitionContext, request: AcquisitionRequest): Promise<Acquired> {
  const { abandoned, clock, random, view } = context
  const { pool, signal, values } = request
  const id = newClaimId(random)
  const out = newHandOut(request, clock.now(), random)
  let created: Stored<ConfigMap> | undefined
  let tracked: TrackedClaim | undefined
  try {
    const beforeWrite = (): void => refuseIfLeft(request)
    const { object, rendered } = await makeClaim(
      context,
      { id, pool, values, handOut: out, signal, beforeWrite },
      (object) => {
        created = object
        tracked = view.track(object)
        request.onShown()
      },
    )
    const { returnValues } = rendered
    const expiresAt = expiryOf(object, out)
    return {
      id,
      object,
      nonce: out.nonce,
      isWarm: false,
      returnValues,
      expiresAt,
      tracked: tracked ?? view.track(object),
    }
  } catch (error) {
    tracked?.end()
    if (created) abandoned.add(id, created, out.nonce)
    else if (isUncertain(error, signal)) abandoned.addUncertain(id, out.nonce)
    throw error
  }
}

function handOutPatch(member: Claim, out: HandOut, lazy: LazyResources) {
  const { uid, resourceVersion } = member.object.metadata
  return mergePatch({
    metadata: {
      uid,
      resourceVersion,
      annotations: { ...handOutAnnotations(out), ...lazy.annotations },
      ...(out.caller !== undefined && { labels: { [LABELS.caller]: out.caller } }),
    },
    ...(Object.keys(lazy.data).length > 0 && { data: lazy.data }),
  })
}

function newHandOut({ caller, idempotencyKey, ttl }: AcquisitionRequest, now: number, random: Random): HandOut {
  return { claimedAt: now, expiresAt: now + ttl, nonce: newNonce(random), idempotencyKey, caller }
}

export function newNonce(random: Random): string {
  return randomSuffix(random, 16)
}

/** The expiry as it was stored. */
function expiryOf(object: Stored<ConfigMap>, out: HandOut): number {
  return claimOf(object)?.expiresAt ?? out.expiresAt
}

function refuseIfLeft({ left }: AcquisitionRequest): void {
  if (left.aborted) throw abortReason(left)
}

/** The failure of an acquisition: the caller learns why a template cannot be used, and nothing about the cluster. */
export function acquisitionFailure(error: unknown): ClaimFailure {
  if (error instanceof ClaimFailure) return error
  const { code, message } = asError(error) as Error & { code?: string }
  const isAboutTemplate =
    error instanceof ClaimTemplateError || code === 'TENURE_CLAIM_NAME_TAKEN' || code === 'TENURE_CLAIM_CHILD_REFUSED'
  return new ClaimFailure(
    'TENURE_CLAIM_CREATE_FAILED',
    500,
    isAboutTemplate ? `failed to create claim: ${message}` : 'failed to create claim',
    { cause: error },
  )
}
