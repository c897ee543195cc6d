import type { Clock, Random, Timer } from '@tenure/kube'
import { ApiError, TenureError, asError, jitter } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { DueEntry } from './due-heap.ts'
import { DueHeap } from './due-heap.ts'

/** What `onDue` may ask for instead of being done: to be called again, that many milliseconds from now. */
export interface Again {
  readonly again: number
}

export interface ExpiryOptions {
  readonly clock: Clock
  readonly random: Random
  /**
   * Called when a key is due; never twice at once for one key. Resolve: done with it, unless it was set again
   * meanwhile. Reject: tried again with backoff.
   */
  readonly onDue: (key: string, signal: AbortSignal) => Promise<Again | void>
  /** Calls at once. Default 16. */
  readonly concurrency?: number
  /** First wait after a failure, in milliseconds; doubles with each. Default 1,000. */
  readonly backoffBase?: number
  /** Longest wait after a failure, in milliseconds. Default 60,000. */
  readonly backoffMax?: number
  /** Default: silent. */
  readonly log?: Logger
}

/**
 * Timers run on the monotonic clock but due times are wall time, so a wall clock that jumps forward is noticed only
 * by looking. Looking this often keeps the promise of at most a second late.
 */
const LONGEST_NAP = 900

/** Which part of the places goes to keys that failed before: while others are due, and while none are. */
const RETRIES_AT_LEAST = 0.25
const RETRIES_AT_MOST = 0.75

interface Running {
  /** It failed before. */
  readonly isRetry: boolean
  /** Set again, while the callback runs, to this. */
  due: number | undefined
  /** Deleted, and not set since, while the callback runs. */
  deleted: boolean
}

/**
 * Calls back when wall time reaches what was set for a key: oldest first, never early (also when the wall clock jumps
 * back), at most a second late (also when it jumps forward). One timer for all keys.
 */
export class Expiry {
  readonly #clock: Clock
  readonly #random: Random
  readonly #onDue: ExpiryOptions['onDue']
  readonly #concurrency: number
  readonly #backoffBase: number
  readonly #backoffMax: number
  readonly #log: Logger
  /** By wall time. */
  readonly #waiting = new DueHeap()
  /**
   * The same, of keys that failed before. They are the oldest, and may be slow to fail: without bounds, a few of them
   * would take every place again and again, and nothing else would ever be called.
   */
  readonly #retrying = new DueHeap()
  #retries = 0
  /** By monotonic time: when keys that are held back, after a failure, may wait for their due time again. */
  readonly #holding = new DueHeap()
  /** The due times of the keys in `#holding`. */
  readonly #held = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  readonly #running = new Map<string, Running>()
  #timer: Timer | undefined
  #signal: AbortSignal | undefined
  #idle: (() => void) | undefined

  constructor(options: ExpiryOptions) {
    this.#clock = options.clock
    this.#random = options.random
    this.#onDue = options.onDue
    this.#concurrency = options.concurrency ?? 16
    this.#backoffBase = options.backoffBase ?? 1_000
    this.#backoffMax = options.backoffMax ?? 60_000
    this.#log = options.log ?? silentLogger
  }

  /** Keys that wait, are held back after a failure, or are being called and were not deleted meanwhile. */
  get size(): number {
    let running = 0
    for (const run of this.#running.values()) if (!run.deleted) running++
    return this.#waiting.size + this.#retrying.size + this.#held.size + running
  }

  /** Makes `key` due at `due`, wall time in milliseconds since 1970, instead of when it was before. */
  set(key: string, due: number): void {
    if (Number.isNaN(due)) {
      throw new TenureError('TENURE_EXPIRY_DUE_INVALID', `The due time of ${key} is not a number.`, { fate: 'bug' })
    }
    const run = this.#running.get(key)
    if (run) {
      run.due = due
      run.deleted = false
      return
    }
    const held = this.#held.get(key)
    // The same due time again is no news, and must not cut a backoff short.
    if (held === due || this.#retrying.get(key) === due) return
    if (held !== undefined) this.#endHold(key)
    this.#retrying.delete(key)
    this.#waiting.set(key, due)
    if (this.#waiting.next()?.key === key) this.#wake()
  }

  /** Forgets `key`. A call that is under way finishes. */
  delete(key: string): void {
    const run = this.#running.get(key)
    if (run) {
      run.due = undefined
      run.deleted = true
    }
    this.#failures.delete(key)
    this.#endHold(key)
    this.#waiting.delete(key)
    this.#retrying.delete(key)
  }

  /** When `key` is due, undefined if it is not waiting. */
  get(key: string): number | undefined {
    return this.#running.get(key)?.due ?? this.#held.get(key) ?? this.#waiting.get(key) ?? this.#retrying.get(key)
  }

  /** The key that is due first, among those not held back by a failure. */
  next(): DueEntry | undefined {
    return earlier(this.#waiting.next(), this.#retrying.next())
  }

  /** Calls back until `signal` aborts; resolves when the calls under way have ended. What waits stays, for a next run. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal) {
      throw new TenureError('TENURE_EXPIRY_RUNNING', 'This expiry already runs; run it once at a time.', {
        fate: 'bug',
      })
    }
    this.#signal = signal
    try {
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve(), { once: true })
        this.#wake()
      })
      this.#timer?.cancel()
      this.#timer = undefined
      if (this.#running.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    } finally {
      this.#idle = undefined
      this.#signal = undefined
    }
  }

  /** Starts what is due and arms the one timer for what comes next. */
  #wake(): void {
    const signal = this.#signal
    if (!signal || signal.aborted) return
    this.#timer?.cancel()
    this.#timer = undefined
    const monotonic = this.#clock.monotonic()
    for (let hold = this.#holding.next(); hold && hold.due <= monotonic; hold = this.#holding.next()) {
      const due = this.#held.get(hold.key)
      this.#endHold(hold.key)
      if (due === undefined) continue
      if (this.#failures.has(hold.key)) this.#retrying.set(hold.key, due)
      else this.#waiting.set(hold.key, due)
    }
    const now = this.#clock.now()
    let next = this.#nextCall(now)
    while (next && next.due <= now && this.#running.size < this.#concurrency) {
      this.#call(next, signal)
      next = this.#nextCall(now)
    }
    // With every place taken, the end of a call wakes us.
    const untilDue = next && this.#running.size < this.#concurrency ? Math.min(next.due - now, LONGEST_NAP) : Infinity
    const untilHold = (this.#holding.next()?.due ?? Infinity) - monotonic
    const nap = Math.min(untilDue, untilHold)
    if (nap < Infinity) this.#timer = this.#clock.setTimer(Math.max(nap, 0), () => this.#wake())
  }

  /** The oldest; but what failed before has a share of the places, and never all of them. */
  #nextCall(now: number): DueEntry | undefined {
    const fresh = this.#waiting.next()
    const retry = this.#retrying.next()
    if (!retry || this.#concurrency === 1) return earlier(fresh, retry)
    const isFreshDue = fresh !== undefined && fresh.due <= now
    const share = isFreshDue ? RETRIES_AT_LEAST : RETRIES_AT_MOST
    if (this.#retries >= Math.max(Math.floor(this.#concurrency * share), 1)) return fresh
    return isFreshDue && retry.due <= now ? retry : earlier(fresh, retry)
  }

  #call({ key, due }: DueEntry, signal: AbortSignal): void {
    const run: Running = { due: undefined, deleted: false, isRetry: this.#retrying.delete(key) }
    this.#waiting.delete(key)
    if (run.isRetry) this.#retries++
    this.#running.set(key, run)
    // oxlint-disable-next-line promise/prefer-await-to-then -- a call runs beside this method, and both ends are handled
    void Promise.resolve()
      .then(() => this.#onDue(key, signal))
      .then(
        (result) => this.#ended(key, due, run, result ?? undefined),
        (thrown: unknown) => this.#failed(key, due, run, asError(thrown), signal),
      )
  }

  #ended(key: string, due: number, run: Running, again: Again | undefined): void {
    this.#leave(key, run)
    this.#failures.delete(key)
    if (run.due !== undefined) this.#waiting.set(key, run.due)
    else if (again && !run.deleted) this.#hold(key, due, again.again)
    this.#afterCall()
  }

  #failed(key: string, due: number, run: Running, error: Error, signal: AbortSignal): void {
    this.#leave(key, run)
    if (signal.aborted) {
      // Cut off by the end of the run: nothing is wrong with the key.
      if (!run.deleted) this.#waiting.set(key, run.due ?? due)
    } else if (run.deleted) {
      this.#failures.delete(key)
    } else {
      const failures = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      const backoff = jitter(this.#random, Math.min(this.#backoffBase * 2 ** (failures - 1), this.#backoffMax), 0.2)
      // Never before the server wants it.
      const wait = Math.max(backoff, (error instanceof ApiError && error.retryAfter) || 0)
      this.#log.warn('expiry failed, will try again', { key, failures, wait: Math.round(wait), error })
      if (run.due !== undefined && run.due > due) this.#waiting.set(key, run.due)
      else this.#hold(key, run.due ?? due, wait)
    }
    this.#afterCall()
  }

  #leave(key: string, run: Running): void {
    this.#running.delete(key)
    if (run.isRetry) this.#retries--
  }

  #afterCall(): void {
    if (this.#running.size === 0) this.#idle?.()
    this.#wake()
  }

  #hold(key: string, due: number, wait: number): void {
    this.#held.set(key, due)
    this.#holding.set(key, this.#clock.monotonic() + wait)
  }

  #endHold(key: string): void {
    this.#held.delete(key)
    this.#holding.delete(key)
  }
}

function earlier(a: DueEntry | undefined, b: DueEntry | undefined): DueEntry | undefined {
  return !a || (b && b.due < a.due) ? b : a
}
