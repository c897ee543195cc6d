import { abortReason, asError, type KubeApi, type Stored, withTimeout } from '@tenure/kube'
import { type ConfigMap, Secret } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import type { OperatorContext } from '@tenure/runtime'
import { type Claim, returnValuesOf } from '../api/claim.ts'
import { claimSecretName } from '../api/id.ts'
import { REASONS } from '../api/names.ts'
import type { ClaimMetrics } from '../metrics.ts'
import { ClaimTemplateError } from '../template/types.ts'
import type { AbandonedClaims } from './abandoned-claims.ts'
import {
  acquire,
  type Acquired,
  acquisitionFailure,
  type AcquisitionContext,
  type AcquisitionRequest,
  newNonce,
} from './acquisition.ts'
import type { Callers } from './callers.ts'
import type { ClaimView } from './claim-view.ts'
import { ClaimFailure } from './errors.ts'
import { annotationOf, IdempotentCalls, type KeyedRequest, keyedRequest } from './idempotency.ts'
import { Members } from './members.ts'
import type { Pool, Pools } from './pools.ts'
import { TemplateFailures } from './template-failures.ts'
import type { TrackedClaim, Waited } from './tracked-claim.ts'

/** Taking or creating a claim may take this long. */
const ACQUIRE_TIMEOUT_MS = 10_000
/** A caller waits at most this long for its claim to become ready. */
const READY_TIMEOUT_MS = 120_000
/** Larger values belong into an object that the template refers to. */
export const MAX_VALUES_BYTES = 64 * 1024
/** Rounds of one call in which other calls with the same key, or the controller, were faster. */
const MAX_KEY_ATTEMPTS = 10

export interface TakeRequest {
  readonly pool: string
  /** Milliseconds. Undefined: the pool's default. */
  readonly ttl: number | undefined
  readonly values: JsonObject | undefined
  readonly idempotencyKey: string | undefined
  /** The authenticated user: keys of different users are different. Default: all callers share their keys. */
  readonly user?: string | undefined
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

export type ClaimServiceContext = Pick<OperatorContext, 'api' | 'clock' | 'random' | 'recorder' | 'log' | 'identity'>

/** Takes claims for callers. */
export class ClaimTaker {
  readonly #context: ClaimServiceContext
  readonly #options: ClaimServiceOptions
  readonly #api: KubeApi
  readonly #acquisition: AcquisitionContext
  readonly #templates: TemplateFailures
  readonly #idempotent: IdempotentCalls<TakenClaim>

  constructor(context: ClaimServiceContext, options: ClaimServiceOptions) {
    const { api, clock, random } = context
    const { abandoned, kinds, namespace, view } = options
    this.#context = context
    this.#options = options
    this.#api = api
    this.#acquisition = { api, clock, random, abandoned, kinds, namespace, view, members: new Members(view, clock) }
    this.#templates = new TemplateFailures(context, namespace)
    this.#idempotent = new IdempotentCalls(api, namespace)
  }

  async take(request: TakeRequest): Promise<TakenClaim> {
    const { abandoned, pools } = this.#options
    const pool = pools.get(request.pool)
    if (!pool) throw new ClaimFailure('TENURE_CLAIM_UNKNOWN_POOL', 404, `unknown pool ${JSON.stringify(request.pool)}`)
    const problem = request.values && problemOf(request.values, pool)
    if (problem !== undefined) {
      throw new ClaimFailure('TENURE_CLAIM_INVALID_REQUEST', 400, `invalid request body: ${problem}`)
    }
    const { idempotencyKey, ttl, user, values } = request
    if (idempotencyKey === undefined) {
      return await abandoned.during(request.signal, (left) => this.#takeUnkeyed(request, pool, left))
    }
    const key = keyedRequest(
      user === undefined ? idempotencyKey : JSON.stringify([user, idempotencyKey]),
      JSON.stringify([pool.name, ttl, values]),
    )
    return await this.#idempotent.share(key, request.signal, (signal) =>
      abandoned.during(signal, (left) => this.#takeKeyed(request, pool, { key, left })),
    )
  }

  async #takeUnkeyed(request: TakeRequest, pool: Pool, left: AbortSignal): Promise<TakenClaim> {
    const started = this.#context.clock.monotonic()
    const acquired = await this.#within(left, (signal) =>
      this.#acquire(request, pool, { left, signal, idempotencyKey: undefined }),
    )
    return await this.#answer(acquired, started, left)
  }

  async #takeKeyed(
    request: TakeRequest,
    pool: Pool,
    { key, left }: { readonly key: KeyedRequest; readonly left: AbortSignal },
  ): Promise<TakenClaim> {
    const { clock, random } = this.#context
    const started = clock.monotonic()
    const result = await this.#within(left, async (signal): Promise<Acquired | Stored<ConfigMap>> => {
      for (let attempt = 1; attempt <= MAX_KEY_ATTEMPTS; attempt++) {
        if (left.aborted) throw abortReason(left)
        const earlier = await this.#idempotent.find(key, signal)
        if (earlier) {
          const taken = await this.#idempotent.takeOver(earlier, newNonce(random), signal)
          if (taken) return taken
          continue
        }
        const acquired = await this.#acquire(request, pool, { left, signal, idempotencyKey: annotationOf(key) })
        if (await this.#isRecorded(key, acquired, signal)) return acquired
      }
      throw new ClaimFailure('TENURE_CLAIM_CREATE_FAILED', 500, 'failed to create claim')
    })
    return 'nonce' in result ? await this.#answer(result, started, left) : await this.#answerAgain(result, left)
  }

  /** Records the claim of a key. If another call was faster, its claim is the answer and this one is given up. */
  async #isRecorded(key: KeyedRequest, acquired: Acquired, signal: AbortSignal): Promise<boolean> {
    const { id, nonce, object, tracked } = acquired
    let isRecorded = false
    try {
      isRecorded = await this.#idempotent.record(key, object, id, signal)
      return isRecorded
    } finally {
      if (!isRecorded) {
        tracked.end()
        this.#options.abandoned.add(id, object, nonce)
      }
    }
  }

  async #acquire(
    { caller, ttl, values }: TakeRequest,
    pool: Pool,
    more: Pick<AcquisitionRequest, 'left' | 'signal' | 'idempotencyKey'>,
  ): Promise<Acquired> {
    const { callers, metrics } = this.#options
    const label = callers.labelOf(caller)
    const request = { ...more, pool, values, caller: label, ttl: Math.min(ttl ?? pool.defaultTtl, pool.maxTtl) }
    try {
      const acquired = await callers.run(label, (onShown) => acquire(this.#acquisition, { ...request, onShown }))
      metrics.acquired(acquired.isWarm)
      if (!acquired.isWarm) this.#templates.clear(pool)
      return acquired
    } catch (error) {
      if (error instanceof ClaimTemplateError) this.#templates.report(pool, error)
      throw error
    }
  }

  /** Waits until the claim is ready. It is given up if it does not become ready, or the caller leaves. */
  async #answer(acquired: Acquired, started: number, left: AbortSignal): Promise<TakenClaim> {
    const { abandoned, metrics } = this.#options
    const { expiresAt, id, isWarm, nonce, object, returnValues, tracked } = acquired
    try {
      const claim = await this.#whenReady(tracked, left)
      metrics.taken(claim, isWarm, (this.#context.clock.monotonic() - started) / 1_000)
      return {
        id,
        expiresAt: claim.expiresAt ?? expiresAt,
        isPreProvisioned: claim.isPreProvisioned,
        data: returnValues,
      }
    } catch (error) {
      abandoned.add(id, object, nonce)
      throw this.#givenUpBecause(error, object)
    } finally {
      tracked.end()
    }
  }

  /** The claim of an earlier call with the same key. It is not given up if it cannot be answered: the earlier caller may have it. */
  async #answerAgain(object: Stored<ConfigMap>, left: AbortSignal): Promise<TakenClaim> {
    const tracked = this.#options.view.track(object)
    try {
      const claim = await this.#whenReady(tracked, left)
      const { expiresAt = 0, id, isPreProvisioned } = claim
      const data = { ...returnValuesOf(claim.object), ...(await this.#secretValues(claim, left)) }
      return { id, expiresAt, isPreProvisioned, data }
    } finally {
      tracked.end()
    }
  }

  async #secretValues(
    { hasSecretReturns, object }: Claim,
    left: AbortSignal,
  ): Promise<Readonly<Record<string, string>>> {
    if (!hasSecretReturns) return {}
    const { name, namespace } = object.metadata
    const ref = { name: claimSecretName(name), namespace }
    return returnValuesOf(await this.#within(left, (signal) => this.#api.get(Secret, ref, { signal })))
  }

  async #whenReady(tracked: TrackedClaim, left: AbortSignal): Promise<Claim> {
    // A member of the pool is ready already: it needs no timer.
    const { result } = tracked
    if (result && !left.aborted) return settled(result)
    const limit = withTimeout(this.#context.clock, READY_TIMEOUT_MS, readyTimeout, left)
    try {
      const claim = settled(await tracked.settled(limit.signal))
      if (left.aborted) throw abortReason(left)
      return claim
    } finally {
      limit.dispose()
    }
  }

  /** Limits the time of taking or creating a claim, which goes on if the caller leaves: its outcome must be known. */
  async #within<T>(left: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = withTimeout(this.#context.clock, ACQUIRE_TIMEOUT_MS, createTimeout)
    try {
      return await work(limit.signal)
    } catch (error) {
      if (left.aborted && error === left.reason) throw error
      if (limit.signal.aborted) throw createTimeout(error)
      throw acquisitionFailure(error)
    } finally {
      limit.dispose()
    }
  }

  #givenUpBecause(error: unknown, object: Stored<ConfigMap>): unknown {
    const isTimeout = error instanceof ClaimFailure && error.code === 'TENURE_CLAIM_READY_TIMEOUT'
    if (isTimeout) this.#options.metrics.timedOut()
    const reason = error instanceof ClaimFailure ? error.message : `the caller has left: ${asError(error).message}`
    const message = `The claim was given up: ${reason}`
    this.#context.recorder.record(object, { type: 'Warning', reason: REASONS.failed, message })
    return error
  }
}

/** The problem of the values of a claim; undefined if there is none. */
function problemOf(values: JsonObject, pool: Pool): string | undefined {
  const isTooLarge = Buffer.byteLength(JSON.stringify(values)) > MAX_VALUES_BYTES
  return isTooLarge ? `values are larger than ${MAX_VALUES_BYTES / 1024} KiB` : pool.source.checkValues(values)
}

function settled(waited: Waited): Claim {
  if ('gone' in waited) throw notReady('the claim was released or has expired')
  const { claim } = waited
  if (claim.status === 'failed') throw notReady(claim.message)
  return claim
}

function notReady(reason: string): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_READY_FAILED', 500, `failed while waiting for claim readiness: ${reason}`)
}

function readyTimeout(): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_READY_TIMEOUT', 504, 'timed out waiting for claim resources to become ready')
}

function createTimeout(cause?: unknown): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_CREATE_TIMEOUT', 504, 'upstream timeout while creating claim', { cause })
}
