import { type Clock, type DeleteOptions, isConflict, isNotFound, type KubeApi, sleep, type Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { type Component, type OperatorContext, QueueWorker, type Requeue } from '@tenure/runtime'
import { claimOf, claimRef } from '../api/claim.ts'
import type { ClaimView } from './claim-view.ts'
import { ClaimFailure } from './errors.ts'
import { orUndefined } from './uncertain-writes.ts'

/** The API server ends a request after this long: until then a write without a known outcome may still be carried out. */
const MAX_REQUEST_MS = 60_000
/** How often the view is checked for such a write. */
const CHECK_INTERVAL_MS = 1_000

type Preconditions = NonNullable<DeleteOptions['preconditions']>

/** A claim that no caller will get. */
interface Abandoned {
  readonly id: string
  /** Known if the response of the write arrived. */
  readonly uid: string | undefined
  /** Of the hand-out: the write may have failed, and then the claim is another's. */
  readonly nonce: string
  /** It was taken with a key: another call may have taken it over since. */
  readonly isKeyed: boolean
  /** Monotonic time until which a write without a known outcome may be carried out. */
  readonly until: number
}

/**
 * Removes claims that no caller will get: the caller has disconnected, the wait was too long, or a write has no known
 * outcome. It tries until the claim is gone; the claim's own expiry is the last resort. When the process stops, it ends
 * the calls in progress and removes their claims first.
 */
export class AbandonedClaims implements Component {
  readonly name = 'abandoned claims'
  readonly #api: KubeApi
  readonly #clock: Clock
  readonly #namespace: string
  readonly #view: ClaimView
  readonly #worker: QueueWorker
  /** By nonce. */
  readonly #claims = new Map<string, Abandoned>()
  /** Nonces of claims whose removal was not tried with success yet. */
  readonly #unfinished = new Set<string>()
  /** Calls in progress. */
  readonly #calls = new Set<AbortController>()
  #onDrained: (() => void) | undefined
  #isStopping = false

  constructor(context: OperatorContext, view: ClaimView, namespace: string) {
    const { api, clock, log, metrics } = context
    this.#api = api
    this.#clock = clock
    this.#namespace = namespace
    this.#view = view
    this.#worker = new QueueWorker({
      name: 'abandoned-claims',
      clock,
      log,
      metrics,
      work: (key, { signal }) => this.#remove(key, signal),
    })
  }

  start(): Promise<void> {
    return this.#worker.start()
  }

  async stop(grace: number): Promise<void> {
    this.#isStopping = true
    const end = this.#clock.monotonic() + grace
    for (const call of this.#calls) call.abort(stopping())
    await this.#drained(grace)
    await this.#worker.stop(Math.max(end - this.#clock.monotonic(), 0))
  }

  /** Runs the call of a caller. Its signal aborts when the caller leaves or the process stops. */
  async during<T>(caller: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isStopping) throw stopping()
    const controller = new AbortController()
    const onAbort = (): void => controller.abort(caller.reason)
    if (caller.aborted) onAbort()
    caller.addEventListener('abort', onAbort, { once: true })
    this.#calls.add(controller)
    try {
      return await call(controller.signal)
    } finally {
      caller.removeEventListener('abort', onAbort)
      this.#calls.delete(controller)
      this.#checkDrained()
    }
  }

  /** A claim that was created or handed out for a caller that has left. */
  add(id: string, object: Stored<ConfigMap>, nonce: string): void {
    const isKeyed = claimOf(object)?.idempotencyKey !== undefined
    this.#add({ id, uid: object.metadata.uid, nonce, isKeyed, until: 0 })
  }

  /** A claim whose creation or hand-out has no known outcome. */
  addUncertain(id: string, nonce: string): void {
    this.#add({ id, uid: undefined, nonce, isKeyed: true, until: this.#clock.monotonic() + MAX_REQUEST_MS })
  }

  #add(abandoned: Abandoned): void {
    this.#claims.set(abandoned.nonce, abandoned)
    this.#unfinished.add(abandoned.nonce)
    this.#worker.add(abandoned.nonce)
  }

  async #remove(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const abandoned = this.#claims.get(key)
    if (!abandoned) return undefined
    const isGone = await this.#removeOnce(abandoned, signal)
    this.#unfinished.delete(key)
    this.#checkDrained()
    if (!isGone && this.#clock.monotonic() < abandoned.until) return { requeueAfter: CHECK_INTERVAL_MS }
    this.#claims.delete(key)
    return undefined
  }

  async #removeOnce(abandoned: Abandoned, signal: AbortSignal): Promise<boolean> {
    const { id, isKeyed, uid } = abandoned
    if (isKeyed) return await this.#removeIfOurs(abandoned, signal)
    try {
      await this.#delete(id, { uid }, signal)
      return true
    } catch (error) {
      if (!isConflict(error)) throw error
      // Another object has the name now; a read makes sure.
      return await this.#removeIfOurs(abandoned, signal)
    }
  }

  /** Removes a claim unless another call has it. A conflict is retried: the claim is read again. False: there is no such claim. */
  async #removeIfOurs({ id, nonce }: Abandoned, signal: AbortSignal): Promise<boolean> {
    // The first check asks the server; later ones wait for the watch.
    const isFirst = this.#unfinished.has(nonce)
    const shown = this.#view.get(id)
    if (!isFirst && shown?.handOut !== nonce) return false
    const object = await orUndefined(this.#api.get(ConfigMap, claimRef(this.#namespace, id), { signal }))
    if (!object || claimOf(object)?.handOut !== nonce) return false
    const { resourceVersion, uid } = object.metadata
    await this.#delete(id, { uid, resourceVersion }, signal)
    return true
  }

  async #delete(id: string, preconditions: Preconditions, signal: AbortSignal): Promise<void> {
    try {
      const ref = claimRef(this.#namespace, id)
      await this.#api.delete(ConfigMap, ref, { preconditions, propagation: 'Background', signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #drained(grace: number): Promise<void> {
    if (this.#isDrained || grace === 0) return
    const drained = new AbortController()
    this.#onDrained = () => drained.abort()
    try {
      await sleep(this.#clock, grace, drained.signal)
    } catch {
      // Everything is removed.
    }
  }

  get #isDrained(): boolean {
    return this.#calls.size === 0 && this.#unfinished.size === 0
  }

  #checkDrained(): void {
    if (this.#isDrained) this.#onDrained?.()
  }
}

function stopping(): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_STOPPING', 503, 'the server is stopping; try again', { retryAfter: 1 })
}
