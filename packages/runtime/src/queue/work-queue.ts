import { abortReason, type Clock, TenureError, type Timer } from '@tenure/kube'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { DelayHeap } from './delay-heap.ts'
import { type Entry, newEntry } from './entry.ts'
import { type QueueInstruments, queueInstruments } from './queue-metrics.ts'
import { ReadyList } from './ready-list.ts'

/** Changes have normal priority; initial objects and resyncs have low priority. */
export const PRIORITY = { normal: 0, low: -100 } as const

export interface Backoff {
  /** Milliseconds before the first retry; doubles with each further retry. Default 5. */
  readonly base?: number
  /** Maximum delay in milliseconds. Default 1,000,000. */
  readonly max?: number
}

export interface WorkQueueOptions {
  readonly clock: Clock
  /** Names the queue in metrics. */
  readonly name: string
  /** Default: client-go's, 5 ms to 1000 s. */
  readonly backoff?: Backoff | undefined
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined
  /** Called synchronously whenever a key becomes ready. Default: only callers waiting in `get` are woken. */
  readonly onReady?: (() => void) | undefined
  /**
   * Number of workers. With more than one, keys that failed before get between a quarter and three quarters of them:
   * retries that are slow to fail do not delay other keys, nor are they starved. Default: no share is kept.
   */
  readonly workers?: number | undefined
}

/** Part of the workers that retries get while other keys are ready, and while none is. */
const MIN_RETRY_SHARE = 0.25
const MAX_RETRY_SHARE = 0.75

/**
 * A deduplicating queue of keys. A key is queued once: when it is added again, the highest priority and the shortest
 * delay win. It is never handed out twice at once: if it is added while it runs, it runs again after `done`. Ready keys
 * come out by priority, then round-robin over namespaces, then first in first out.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #base: number
  readonly #max: number
  readonly #entries = new Map<string, Entry>()
  readonly #ready = new ReadyList()
  /** Ready keys that failed before, if `workers` keeps them apart. */
  readonly #readyRetries = new ReadyList()
  readonly #workers: number
  #runningRetries = 0
  readonly #delayed = new DelayHeap()
  readonly #waiters = new Set<() => void>()
  readonly #drainWaiters: (() => void)[] = []
  readonly #onReady: (() => void) | undefined
  readonly #instruments: QueueInstruments
  #timer: Timer | undefined
  #timerDue = 0
  #running = 0
  #adds = 0
  #retries = 0
  #shutDown = false

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock
    this.#base = options.backoff?.base ?? 5
    this.#max = options.backoff?.max ?? 1_000_000
    this.#onReady = options.onReady
    this.#workers = options.workers ?? 1
    this.#instruments = queueInstruments(options.metrics ?? noMetrics, options.name, () => ({
      depth: this.depth,
      adds: this.#adds,
      retries: this.#retries,
      runningFor: this.#runningFor(),
    }))
  }

  /** Number of keys that are ready. */
  get depth(): number {
    return this.#ready.size + this.#readyRetries.size
  }

  /** Number of keys handed out and not done. */
  get running(): number {
    return this.#running
  }

  /** Number of keys whose delay has not passed. */
  get delayed(): number {
    return this.#delayed.size
  }

  get isShutDown(): boolean {
    return this.#shutDown
  }

  /** Queues `key` after `after` milliseconds (default 0: now) with `priority` (default normal, 0). */
  add(key: string, priority: number = PRIORITY.normal, after = 0): void {
    if (this.#shutDown) return
    this.#adds++
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = newEntry(key)
      this.#entries.set(key, entry)
    }
    const now = this.#clock.monotonic()
    const due = after > 0 ? now + after : now
    switch (entry.state) {
      case 'idle':
        entry.priority = priority
        this.#enter(entry, due, now)
        return
      case 'delayed':
        if (priority > entry.priority) entry.priority = priority
        if (due >= entry.due) return
        if (after > 0) {
          entry.due = due
          this.#delayed.advanced(entry)
          this.#arm()
        } else {
          this.#delayed.remove(entry)
          this.#enter(entry, due, now)
        }
        return
      case 'ready':
        if (priority <= entry.priority) return
        this.#listOf(entry).remove(entry)
        entry.priority = priority
        this.#listOf(entry).push(entry)
        return
      case 'running':
        if (entry.again) {
          if (priority > entry.againPriority) entry.againPriority = priority
          if (due < entry.againDue) entry.againDue = due
        } else {
          entry.again = true
          entry.againPriority = priority
          entry.againDue = due
        }
    }
  }

  /**
   * Queues `key` after a failure, with a delay that doubles until `forget` and is at least `atLeast` milliseconds
   * (default 0).
   */
  retry(key: string, priority: number = PRIORITY.normal, atLeast = 0): void {
    if (this.#shutDown) return
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = newEntry(key)
      this.#entries.set(key, entry)
    }
    this.#retries++
    this.add(key, priority, Math.max(Math.min(this.#base * 2 ** entry.failures++, this.#max), atLeast))
  }

  /** Resets the failures of `key`, so that the next `retry` uses the shortest delay. A queued key stays queued. */
  forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    entry.failures = 0
    if (entry.state === 'idle') this.#entries.delete(key)
  }

  /** Number of consecutive retries of `key`. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0
  }

  /** The priority with which `key` is queued or was handed out; undefined if it is unknown. */
  priority(key: string): number | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.state === 'idle' ? undefined : entry.priority
  }

  /** The next ready key, or undefined. The caller must call `done` with it. */
  tryGet(): string | undefined {
    const entry = this.#isRetryNext() ? this.#readyRetries.shift() : this.#ready.shift()
    if (entry === undefined) return undefined
    if (entry.isRetry) this.#runningRetries++
    const now = this.#clock.monotonic()
    this.#instruments.queueDuration.observe((now - entry.since) / 1000)
    entry.state = 'running'
    entry.since = now
    this.#running++
    return entry.key
  }

  /** Waits for the next ready key; undefined once the queue is shut down. Rejects if `signal` aborts first. */
  async get(signal?: AbortSignal): Promise<string | undefined> {
    for (;;) {
      if (signal?.aborted) {
        // This caller may have been woken for a key that it will not take; wake another one.
        if (this.depth > 0) this.#wake()
        throw abortReason(signal)
      }
      const key = this.tryGet()
      if (key !== undefined || this.#shutDown) return key
      await this.#wakeUp(signal)
    }
  }

  /** Marks `key` as processed, successfully or not. If it was added meanwhile, it is queued again. */
  done(key: string): void {
    const entry = this.#entries.get(key)
    if (entry?.state !== 'running') {
      throw new TenureError('TENURE_QUEUE_NOT_RUNNING', `${key} is not running: done() was called twice.`, {
        fate: 'bug',
      })
    }
    const now = this.#clock.monotonic()
    this.#instruments.workDuration.observe((now - entry.since) / 1000)
    this.#running--
    if (entry.isRetry) this.#runningRetries--
    entry.state = 'idle'
    if (entry.again && !this.#shutDown) {
      entry.again = false
      entry.priority = entry.againPriority
      this.#enter(entry, entry.againDue, now)
    } else if (entry.failures === 0) {
      this.#entries.delete(key)
    }
    if (this.#running === 0 && this.#shutDown) this.#drained()
  }

  /** Stops accepting and handing out keys. Running keys continue; `drained` resolves when they are done. */
  shutDown(): void {
    if (this.#shutDown) return
    this.#shutDown = true
    this.#timer?.cancel()
    this.#timer = undefined
    this.#ready.clear()
    this.#readyRetries.clear()
    this.#delayed.clear()
    for (const [key, entry] of this.#entries) if (entry.state !== 'running') this.#entries.delete(key)
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
    this.#instruments.close()
    if (this.#running === 0) this.#drained()
  }

  /** Resolves when the queue is shut down and no key is running. */
  drained(): Promise<void> {
    if (this.#shutDown && this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#drainWaiters.push(resolve))
  }

  #enter(entry: Entry, due: number, now: number): void {
    if (due > now) {
      entry.state = 'delayed'
      entry.due = due
      this.#delayed.push(entry)
      this.#arm()
      return
    }
    entry.state = 'ready'
    entry.since = now
    entry.isRetry = this.#workers > 1 && entry.failures > 0
    this.#listOf(entry).push(entry)
    if (this.#waiters.size > 0) this.#wake()
    this.#onReady?.()
  }

  #listOf(entry: Entry): ReadyList {
    return entry.isRetry ? this.#readyRetries : this.#ready
  }

  #isRetryNext(): boolean {
    if (this.#readyRetries.size === 0) return false
    const share = this.#ready.size > 0 ? MIN_RETRY_SHARE : MAX_RETRY_SHARE
    return this.#runningRetries < Math.max(Math.floor(this.#workers * share), 1)
  }

  /** One timer for all delays, set for the earliest due time. */
  #arm(): void {
    const due = this.#delayed.top?.due
    if (due === undefined || (this.#timer && this.#timerDue <= due)) return
    this.#timer?.cancel()
    this.#timerDue = due
    this.#timer = this.#clock.setTimer(due - this.#clock.monotonic(), () => {
      this.#timer = undefined
      const now = this.#clock.monotonic()
      for (let top = this.#delayed.top; top && top.due <= now; top = this.#delayed.top) {
        this.#delayed.remove(top)
        this.#enter(top, top.due, now)
      }
      this.#arm()
    })
  }

  #wake(): void {
    for (const wake of this.#waiters) {
      this.#waiters.delete(wake)
      wake()
      return
    }
  }

  #wakeUp(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#waiters.delete(wake)
        resolve()
      }
      this.#waiters.add(wake)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #drained(): void {
    for (const resolve of this.#drainWaiters.splice(0)) resolve()
  }

  #runningFor(): readonly number[] {
    const now = this.#clock.monotonic()
    const running: number[] = []
    for (const entry of this.#entries.values()) if (entry.state === 'running') running.push((now - entry.since) / 1000)
    return running
  }
}
