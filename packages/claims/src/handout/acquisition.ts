import {
  asError,
  type Clock,
  ConnectionError,
  isConflict,
  isNotFound,
  mergePatch,
  type Random,
  randomSuffix,
  type Stored,
  withTimeout,
} from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import { type Claim, handOutAnnotations, type HandOut, returnValuesOf } from '../api/claim.ts'
import { newClaimId } from '../api/id.ts'
import { LABELS } from '../api/names.ts'
import type { AbandonedClaims } from './abandoned-claims.ts'
import { ClaimFailure } from './errors.ts'
import { createLazy, type LazyResources, prepareLazy } from './lazy-resources.ts'
import { type ClaimMakerContext, makeClaim } from './make-claim.ts'
import type { Members } from './members.ts'
import type { Pool } from './pools.ts'
import { ClaimTemplateError } from '../template/types.ts'

/** Taking or creating a claim may take this long. */
const ACQUIRE_TIMEOUT_MS = 10_000

export interface AcquisitionContext extends ClaimMakerContext {
  readonly clock: Clock
  readonly random: Random
  readonly members: Members
  readonly abandoned: AbandonedClaims
}

export interface AcquisitionRequest {
  readonly pool: Pool
  /** Milliseconds. */
  readonly ttl: number
  readonly values: JsonObject | undefined
  readonly caller: string | undefined
  readonly idempotencyKey: string | undefined
}

/** A claim that is a caller's, and may not be ready yet. */
export interface Acquired {
  readonly id: string
  readonly object: Stored<ConfigMap>
  readonly nonce: string
  readonly isWarm: boolean
  readonly returnValues: Readonly<Record<string, string>>
}

/** Hands out a member of the pool by one conditional write, or makes a claim. */
export async function acquire(context: AcquisitionContext, request: AcquisitionRequest): Promise<Acquired> {
  const limit = withTimeout(context.clock, ACQUIRE_TIMEOUT_MS, timedOut)
  try {
    return (await handOut(context, request, limit.signal)) ?? (await makeFresh(context, request, limit.signal))
  } catch (error) {
    if (limit.signal.aborted) throw timedOut(error)
    throw toFailure(error)
  } finally {
    limit.dispose()
  }
}

/** Undefined if the pool has no member to hand out. */
async function handOut(
  context: AcquisitionContext,
  request: AcquisitionRequest,
  signal: AbortSignal,
): Promise<Acquired | undefined> {
  const { members } = context
  const { pool } = request
  const { revision } = pool.source.current()
  for (;;) {
    const member = members.reserve(pool.name, revision)
    if (!member) return undefined
    try {
      const acquired = await handOutMember(context, request, member, signal)
      if (acquired) return acquired
    } finally {
      members.free(member)
    }
  }
}

/** Undefined if the member changed in the meantime: another replica was faster, or it is no longer ready. */
async function handOutMember(
  context: AcquisitionContext,
  request: AcquisitionRequest,
  member: Claim,
  signal: AbortSignal,
): Promise<Acquired | undefined> {
  const { abandoned, api, clock, random } = context
  const { pool, values } = request
  const { id } = member
  const lazyContext = { ...context, signal }
  const lazy = await prepareLazy(lazyContext, pool, member, values)
  const out = newHandOut(request, clock.now(), random)
  let object: Stored<ConfigMap>
  try {
    object = await api.patch(ConfigMap, member.object.metadata, handOutPatch(member, out, lazy), { signal })
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined
    if (isUncertain(error, signal)) abandoned.addUncertain(id, out.nonce)
    throw error
  }
  try {
    await createLazy(lazyContext, object, lazy)
  } catch (error) {
    abandoned.add(id, object, out.nonce)
    throw error
  }
  const returnValues = { ...returnValuesOf(object), ...lazy.returnValues }
  return { id, object, nonce: out.nonce, isWarm: true, returnValues }
}

async function makeFresh(
  context: AcquisitionContext,
  request: AcquisitionRequest,
  signal: AbortSignal,
): Promise<Acquired> {
  const { abandoned, clock, random } = context
  const { pool, values } = request
  const id = newClaimId(random)
  const out = newHandOut(request, clock.now(), random)
  let created: Stored<ConfigMap> | undefined
  try {
    const { object, rendered } = await makeClaim(context, { id, pool, values, handOut: out, signal }, (object) => {
      created = object
    })
    return { id, object, nonce: out.nonce, isWarm: false, returnValues: rendered.returnValues }
  } catch (error) {
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
  return { claimedAt: now, expiresAt: now + ttl, nonce: randomSuffix(random, 16), idempotencyKey, caller }
}

/** Whether the write may have been carried out although it failed here. */
function isUncertain(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof ConnectionError
}

function timedOut(cause?: unknown): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_CREATE_TIMEOUT', 504, 'upstream timeout while creating claim', { cause })
}

/** The caller learns why a template cannot be used, and nothing about the cluster. */
function toFailure(error: unknown): ClaimFailure {
  if (error instanceof ClaimFailure) return error
  const { code, message } = asError(error) as Error & { code?: string }
  const isAboutTemplate = error instanceof ClaimTemplateError || code === 'TENURE_CLAIM_NAME_TAKEN'
  return new ClaimFailure(
    'TENURE_CLAIM_CREATE_FAILED',
    500,
    isAboutTemplate ? `failed to create claim: ${message}` : 'failed to create claim',
    { cause: error },
  )
}
