import { type Clock, isConflict, isNotFound, type KubeApi, mergePatch, type Stored, withTimeout } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { ceilSecond } from '@tenure/runtime'
import { type Claim, claimOf, claimRef } from '../api/claim.ts'
import { isClaimId } from '../api/id.ts'
import { ANNOTATIONS, REASONS } from '../api/names.ts'
import { ceiledText } from '../api/new-claim.ts'
import {
  type ClaimServiceContext,
  type ClaimServiceOptions,
  ClaimTaker,
  type TakenClaim,
  type TakeRequest,
} from './claim-taker.ts'
import { ClaimFailure, claimNotFound } from './errors.ts'
import { isUncertain } from './uncertain-writes.ts'

export { type ClaimServiceOptions, MAX_VALUES_BYTES, type TakenClaim, type TakeRequest } from './claim-taker.ts'

/** Renewing or releasing a claim may take this long. */
const CHANGE_TIMEOUT_MS = 10_000
/** Rounds of one call in which the claim was changed by others. */
const MAX_ATTEMPTS = 10

/** Takes, renews and releases claims, on every replica. */
export class ClaimService {
  readonly #context: ClaimServiceContext
  readonly #options: ClaimServiceOptions
  readonly #api: KubeApi
  readonly #clock: Clock
  readonly #taker: ClaimTaker

  constructor(context: ClaimServiceContext, options: ClaimServiceOptions) {
    this.#context = context
    this.#options = options
    this.#api = context.api
    this.#clock = context.clock
    this.#taker = new ClaimTaker(context, options)
  }

  /** Takes a claim, and waits until it is ready. Rejects with a ClaimFailure; the claim is released then. */
  async take(request: TakeRequest): Promise<TakenClaim> {
    return await this.#taker.take(request)
  }

  /** Extends a claim, up to the maximum of its pool. Resolves with its expiry, which is never earlier than before. */
  async renew(id: string, ttl: number | undefined): Promise<number> {
    return await this.#within(async (signal) => {
      for (let attempt = 1; ; attempt++) {
        const isLive = attempt > 1
        const claim = await this.#load(id, isLive, signal)
        const expiresAt = this.#renewedExpiry(claim, ttl)
        if (expiresAt === claim.expiresAt) {
          // Nothing to write; but the claim must still be there.
          if (isLive) return expiresAt
          continue
        }
        try {
          return await this.#writeExpiry(claim, expiresAt, signal)
        } catch (error) {
          if (isNotFound(error)) throw claimNotFound()
          // After a lost response the next round reads what was stored.
          const isRetried = isConflict(error) || (isUncertain(error, signal) && !signal.aborted)
          if (isRetried && attempt < MAX_ATTEMPTS) continue
          throw new ClaimFailure('TENURE_CLAIM_RENEW_FAILED', 500, 'failed to renew claim', { cause: error })
        }
      }
    })
  }

  /** Removes a claim with all its resources. */
  async release(id: string): Promise<void> {
    const { metrics } = this.#options
    const claim = await this.#within(async (signal) => {
      for (let attempt = 1; ; attempt++) {
        const loaded = await this.#load(id, attempt > 1, signal)
        const { uid } = loaded.object.metadata
        try {
          const options = { preconditions: { uid }, propagation: 'Background', signal } as const
          await this.#api.delete(ConfigMap, loaded.object.metadata, options)
          return loaded
        } catch (error) {
          if (isNotFound(error)) throw claimNotFound()
          // Another object has the name now; a live read tells.
          if (isConflict(error) && attempt < MAX_ATTEMPTS) continue
          throw new ClaimFailure('TENURE_CLAIM_DELETE_FAILED', 500, 'failed to delete claim', { cause: error })
        }
      }
    })
    metrics.released(claim, this.#clock.now())
    const message = 'Claim was released and resources were deleted'
    this.#context.recorder.record(claim.object, { type: 'Normal', reason: REASONS.released, message })
  }

  /** A claim that was handed out. Rejects with a ClaimFailure if there is none. */
  async get(id: string): Promise<Claim> {
    return await this.#within((signal) => this.#load(id, false, signal))
  }

  /** Resolves with the expiry as it was stored. */
  async #writeExpiry({ object }: Claim, expiresAt: number, signal: AbortSignal): Promise<number> {
    const { uid, resourceVersion } = object.metadata
    const annotations = { [ANNOTATIONS.expiresAt]: ceiledText(expiresAt) }
    const patch = mergePatch({ metadata: { uid, resourceVersion, annotations } })
    const stored = await this.#api.patch(ConfigMap, object.metadata, patch, { signal })
    return claimOf(stored)?.expiresAt ?? expiresAt
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
  async #load(id: string, isLive: boolean, signal: AbortSignal): Promise<Claim> {
    if (!isClaimId(id)) throw claimNotFound()
    const cached = isLive ? undefined : this.#options.view.get(id)
    // The cache may not show yet that another replica has handed the claim out.
    const isUsable = cached !== undefined && !cached.isIdle && !cached.isTerminating
    const claim = isUsable ? cached : claimOf(await this.#read(id, signal))
    if (!claim) throw new ClaimFailure('TENURE_CLAIM_NOT_MANAGED', 403, 'claim not managed by controller')
    // A member of the pool is not a caller's yet.
    if (claim.isTerminating || claim.isIdle) throw claimNotFound()
    return claim
  }

  async #read(id: string, signal: AbortSignal): Promise<Stored<ConfigMap>> {
    try {
      return await this.#api.get(ConfigMap, claimRef(this.#options.namespace, id), { signal })
    } catch (error) {
      if (isNotFound(error)) throw claimNotFound()
      throw new ClaimFailure('TENURE_CLAIM_LOAD_FAILED', 500, 'failed to load claim', { cause: error })
    }
  }

  /** A request of a caller that has left is still carried out: its outcome must be known. */
  async #within<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = withTimeout(this.#clock, CHANGE_TIMEOUT_MS, () => new Error('The API server did not answer in time'))
    try {
      return await request(limit.signal)
    } finally {
      limit.dispose()
    }
  }
}
