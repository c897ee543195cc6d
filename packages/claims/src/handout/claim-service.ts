import { type Clock, isConflict, isNotFound, type KubeApi, mergePatch, type Stored, withTimeout } from '@tenure/kube'
import { ConfigMap, Secret } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import { ceilSecond, type OperatorContext } from '@tenure/runtime'
import { type Claim, claimOf, claimRef, expiryText, returnValuesOf } from '../api/claim.ts'
import { isClaimId } from '../api/id.ts'
import { ANNOTATIONS, REASONS } from '../api/names.ts'
import type { ClaimMetrics } from '../metrics.ts'
import type { AbandonedClaims } from './abandoned-claims.ts'
import { acquire, type Acquired, type AcquisitionContext } from './acquisition.ts'
import type { Callers } from './callers.ts'
import type { ClaimView, Waited } from './claim-view.ts'
import { ClaimFailure, claimNotFound } from './errors.ts'
import { annotationOf, IdempotentCalls, type KeyedRequest, keyedRequest } from './idempotency.ts'
import { Members } from './members.ts'
import type { Pool, Pools } from './pools.ts'

/** A caller waits at most this long for its claim to become ready. */
const READY_TIMEOUT_MS = 120_000
const WRITE_TIMEOUT_MS = 10_000
const MAX_RENEW_ATTEMPTS = 10

export interface TakeRequest {
  readonly pool: string
  /** Milliseconds. Undefined: the pool's default. */
  readonly ttl: number | undefined
  readonly values: JsonObject | undefined
  readonly idempotencyKey: string | undefined
  /** Identifies the caller, for its share: the user, or the address. */
  readonly caller: string
  /** Aborts when the caller has disconnected. */
  readonly signal: AbortSignal
}

export interface TakenClaim {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly isPreProvisioned: boolean
  readonly data: Readonly<Record<string, string>>
}

export interface ClaimServiceOptions {
  readonly namespace: string
  readonly pools: Pools
  readonly view: ClaimView
  readonly kinds: AcquisitionContext['kinds']
  readonly abandoned: AbandonedClaims
  readonly callers: Callers
  readonly metrics: ClaimMetrics
}

type ServiceContext = Pick<OperatorContext, 'api' | 'clock' | 'random' | 'recorder' | 'log'>

/** Takes, renews and releases claims, on every replica. */
export class ClaimService {
  readonly #context: ServiceContext
  readonly #options: ClaimServiceOptions
  readonly #api: KubeApi
  readonly #clock: Clock
  readonly #members: Members
  readonly #idempotent: IdempotentCalls<TakenClaim>

  constructor(context: ServiceContext, options: ClaimServiceOptions) {
    const { namespace, view } = options
    this.#context = context
    this.#options = options
    this.#api = context.api
    this.#clock = context.clock
    this.#members = new Members(view)
    this.#idempotent = new IdempotentCalls({ api: context.api, view, namespace })
  }

  /** Takes a claim, and waits until it is ready. Rejects with a ClaimFailure; the claim is released then. */
  async take(request: TakeRequest): Promise<TakenClaim> {
    const pool = this.#options.pools.get(request.pool)
    if (!pool) throw new ClaimFailure('TENURE_CLAIM_UNKNOWN_POOL', 404, `unknown pool ${JSON.stringify(request.pool)}`)
    const problem = request.values && pool.source.checkValues(request.values)
    if (problem !== undefined) {
      throw new ClaimFailure('TENURE_CLAIM_INVALID_REQUEST', 400, `invalid request body: ${problem}`)
    }
    if (request.idempotencyKey === undefined) return await this.#take(request, pool, request.signal, undefined)
    const { ttl, values } = request
    const key = keyedRequest(request.idempotencyKey, JSON.stringify([pool.name, ttl, values]))
    return await this.#idempotent.share(key, request.signal, (signal) => this.#takeOnce(request, pool, signal, key))
  }

  /** Extends a claim, up to the maximum of its pool. Resolves with its expiry, which is never earlier than before. */
  async renew(id: string, ttl: number | undefined): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const claim = await this.#load(id, attempt > 1)
      const expiresAt = this.#renewedExpiry(claim, ttl)
      try {
        if (expiresAt === claim.expiresAt) {
          // Nothing to write; but the claim must still be there.
          await this.#load(id, true)
          return expiresAt
        }
        const { uid, resourceVersion } = claim.object.metadata
        const annotations = { [ANNOTATIONS.expiresAt]: expiryText(expiresAt) }
        const patch = mergePatch({ metadata: { uid, resourceVersion, annotations } })
        const stored = await this.#within((signal) =>
          this.#api.patch(ConfigMap, claim.object.metadata, patch, { signal }),
        )
        // The answer is what was stored.
        return claimOf(stored)?.expiresAt ?? expiresAt
      } catch (error) {
        if (error instanceof ClaimFailure) throw error
        if (isNotFound(error)) throw claimNotFound()
        if (isConflict(error) && attempt < MAX_RENEW_ATTEMPTS) continue
        throw new ClaimFailure('TENURE_CLAIM_RENEW_FAILED', 500, 'failed to renew claim', { cause: error })
      }
    }
  }

  /** Removes a claim with all its resources. */
  async release(id: string): Promise<void> {
    const { metrics } = this.#options
    const { object } = await this.#load(id, false)
    const { uid } = object.metadata
    try {
      await this.#within((signal) =>
        this.#api.delete(ConfigMap, object.metadata, { preconditions: { uid }, propagation: 'Background', signal }),
      )
    } catch (error) {
      // A conflict: the claim is gone, and another object has its name.
      if (isNotFound(error) || isConflict(error)) throw claimNotFound()
      throw new ClaimFailure('TENURE_CLAIM_DELETE_FAILED', 500, 'failed to delete claim', { cause: error })
    }
    const claim = claimOf(object)
    if (claim) metrics.released(claim, this.#clock.now())
    const message = 'Claim was released and resources were deleted'
    this.#context.recorder.record(object, { type: 'Normal', reason: REASONS.released, message })
  }

  /** A claim that was handed out. Rejects with a ClaimFailure if there is none. */
  async get(id: string): Promise<Claim> {
    return await this.#load(id, false)
  }

  async #takeOnce(request: TakeRequest, pool: Pool, signal: AbortSignal, key: KeyedRequest): Promise<TakenClaim> {
    let found: Claim | undefined
    try {
      found = await this.#idempotent.find(key, signal)
    } catch (error) {
      if (error instanceof ClaimFailure) throw error
      throw new ClaimFailure('TENURE_CLAIM_CREATE_FAILED', 500, 'failed to create claim', { cause: error })
    }
    return found ? await this.#takeAgain(found, signal) : await this.#take(request, pool, signal, key)
  }

  /** The claim of an earlier call with the same key. It is not released if it cannot be answered: the earlier caller may have it. */
  async #takeAgain({ id, object }: Claim, signal: AbortSignal): Promise<TakenClaim> {
    const { claim } = settled(await this.#whenSettled(object, signal))
    return {
      ...this.#taken(id, claim),
      data: { ...returnValuesOf(claim.object), ...(await this.#secretValues(claim)) },
    }
  }

  async #secretValues({ hasSecrets, object }: Claim): Promise<Readonly<Record<string, string>>> {
    if (!hasSecrets) return {}
    return returnValuesOf(await this.#within((signal) => this.#api.get(Secret, object.metadata, { signal })))
  }

  async #take(
    request: TakeRequest,
    pool: Pool,
    signal: AbortSignal,
    key: KeyedRequest | undefined,
  ): Promise<TakenClaim> {
    const { abandoned, callers, metrics } = this.#options
    const ttl = Math.min(request.ttl ?? pool.defaultTtl, pool.maxTtl)
    const caller = callers.labelOf(request.caller)
    const idempotencyKey = key && annotationOf(key)
    const started = this.#clock.monotonic()
    const context = { ...this.#context, ...this.#options, members: this.#members }
    const acquired = await callers.run(caller, () =>
      acquire(context, { pool, ttl, values: request.values, caller, idempotencyKey }),
    )
    const { id, nonce, object } = acquired
    try {
      if (key && !(await this.#idempotent.record(key, object, id, signal))) {
        // Another replica was faster with the same key: its claim is the answer.
        abandoned.add(id, object, nonce)
        const winner = await this.#idempotent.find(key, signal)
        if (!winner) throw new ClaimFailure('TENURE_CLAIM_CREATE_FAILED', 500, 'failed to create claim')
        return await this.#takeAgain(winner, signal)
      }
      const { claim } = settled(await this.#whenSettled(object, signal))
      metrics.taken(claim, acquired.isWarm, (this.#clock.monotonic() - started) / 1_000)
      return { ...this.#taken(id, claim), data: acquired.returnValues }
    } catch (error) {
      abandoned.add(id, object, nonce)
      throw this.#abandonedBecause(error, acquired)
    }
  }

  #abandonedBecause(error: unknown, { object }: Acquired): unknown {
    const isTimeout = error instanceof ClaimFailure && error.code === 'TENURE_CLAIM_READY_TIMEOUT'
    if (isTimeout) this.#options.metrics.timedOut()
    const message = isTimeout ? 'The claim did not become ready in time and was released' : 'The claim was given up'
    this.#context.recorder.record(object, { type: 'Warning', reason: REASONS.failed, message })
    return error
  }

  #taken(id: string, claim: Claim): Omit<TakenClaim, 'data'> {
    return { id, expiresAt: claim.expiresAt ?? 0, isPreProvisioned: claim.isPreProvisioned }
  }

  async #whenSettled(object: Stored<ConfigMap>, signal: AbortSignal): Promise<Waited> {
    const limit = withTimeout(this.#clock, READY_TIMEOUT_MS, readyTimeout, signal)
    try {
      return await this.#options.view.whenSettled(object, limit.signal)
    } finally {
      limit.dispose()
    }
  }

  /** New expiry = min(now + ttl, claimed + maximum), never earlier than the present one. */
  #renewedExpiry(claim: Claim, ttl: number | undefined): number {
    const pool = this.#options.pools.get(claim.pool) ?? this.#options.pools.values().next().value
    const now = this.#clock.now()
    const { defaultTtl = 0, maxTtl = 0 } = pool ?? {}
    const latest = (claim.claimedAt ?? claim.createdAt) + maxTtl
    if (latest <= now) throw new ClaimFailure('TENURE_CLAIM_MAX_TTL', 409, 'max ttl already reached')
    return Math.max(ceilSecond(Math.min(now + (ttl ?? defaultTtl), latest)), claim.expiresAt ?? 0)
  }

  /** A claim that was handed out: from the cache, or read now. */
  async #load(id: string, isLive: boolean): Promise<Claim> {
    if (!isClaimId(id)) throw claimNotFound()
    const cached = isLive ? undefined : this.#options.view.get(id)
    const object = cached ? undefined : await this.#read(id)
    const claim = cached ?? (object && claimOf(object))
    if (!claim) throw new ClaimFailure('TENURE_CLAIM_NOT_MANAGED', 403, 'claim not managed by controller')
    // A member of the pool is not a caller's yet.
    if (claim.isTerminating || claim.isIdle) throw claimNotFound()
    return claim
  }

  async #read(id: string): Promise<Stored<ConfigMap>> {
    try {
      return await this.#within((signal) => this.#api.get(ConfigMap, claimRef(this.#options.namespace, id), { signal }))
    } catch (error) {
      if (isNotFound(error)) throw claimNotFound()
      throw new ClaimFailure('TENURE_CLAIM_LOAD_FAILED', 500, 'failed to load claim', { cause: error })
    }
  }

  /** A request of a caller that has left is still carried out: its outcome must be known. */
  async #within<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = withTimeout(this.#clock, WRITE_TIMEOUT_MS, () => new Error('The API server did not answer in time'))
    try {
      return await request(limit.signal)
    } finally {
      limit.dispose()
    }
  }
}

function settled(waited: Waited): { readonly claim: Claim } {
  if ('gone' in waited) throw notReady('the claim was released or has expired')
  if (waited.claim.status === 'failed') throw notReady(waited.claim.message)
  return waited
}

function notReady(reason: string): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_READY_FAILED', 500, `failed while waiting for claim readiness: ${reason}`)
}

function readyTimeout(): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_READY_TIMEOUT', 504, 'timed out waiting for claim resources to become ready')
}
