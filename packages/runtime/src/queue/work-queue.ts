import { abortReason, type Clock, TenureError, type Timer } from '@tenure/kube'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { DelayHeap } from './delay-heap.ts'
import { type Entry, newEntry } from './entry.ts'
import { type QueueInstruments, queueInstruments } from './queue-metrics.ts'
import { ReadyList } from './ready-list.ts'

/** What changed just now goes before what was there at the start or is looked at again as a matter of routine. */
export const PRIORITY = { normal: 0, low: -100 } as const

export interface Backoff {
  /** Milliseconds before the first retry; each further one waits twice as long. Default 5. */
  readonly base?: number
  /** Longest wait in milliseconds. Default 1,000,000. */
  readonly max?: number
}

export interface WorkQueueOptions {
  readonly clock: Clock
  /** Names the queue in metrics. */
  readonly name: string
  /** Default: as client-go, 5 ms to 1000 s. */
  readonly backoff?: Backoff | undefined
  /** Default: none. */
  readonly metrics?: Metrics | undefined
  /** Called whenever a key becomes ready, synchronously. Default: nobody is told but those who wait in `get`. */
  readonly onReady?: (() => void) | undefined
}

/**
 * Keys that want attention. A key stands here once: added again, the highest priority and the shortest delay win.
 * It is never handed out twice at once: added while it runs, it runs again after `done`. Ready keys come out by
 * priority, then namespaces in turn, then first come, first served.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #base: number
  readonly #max: number
  readonly #entries = new Map<string, Entry>()
  readonly #ready = new ReadyList()
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
    this.#instruments = queueInstruments(options.metrics ?? noMetrics, options.name, () => ({
      depth: this.#ready.size,
      adds: this.#adds,
      retries: this.#retries,
      runningFor: this.#runningFor(),
    }))
  }

  /** Keys that could be handed out now. */
  get depth(): number {
    return this.#ready.size
  }

  /** Keys handed out and not done. */
  get running(): number {
    return this.#running
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size
  }

  get isShutDown(): boolean {
    return this.#shutDown
  }

  /** Asks for `key` to be worked on, `after` milliseconds (default 0: now) with `priority` (default normal, 0). */
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
        this.#ready.remove(entry)
        entry.priority = priority
        this.#ready.push(entry)
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

  /** Adds `key` after a failure: it waits longer each time, until `forget`, and `atLeast` milliseconds (default 0). */
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

  /** Forgets the failures of `key`: the next `retry` waits the shortest time again. It stays queued if it is. */
  forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    entry.failures = 0
    if (entry.state === 'idle') this.#entries.delete(key)
  }

  /** How often in a row `key` was retried. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0
  }

  /** The priority with which `key` stands here or was handed out; undefined if it is unknown. */
  priority(key: string): number | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.state === 'idle' ? undefined : entry.priority
  }

  /** The next key, undefined if there is none now. Whoever takes one calls `done` with it. */
  tryGet(): string | undefined {
    const entry = this.#ready.shift()
    if (entry === undefined) return undefined
    const now = this.#clock.monotonic()
    this.#instruments.queueDuration.observe((now - entry.since) / 1000)
    entry.state = 'running'
    entry.since = now
    this.#running++
    return entry.key
  }

  /** The next key, as soon as there is one; undefined once the queue is shut down. Rejects if `signal` aborts first. */
  async get(signal?: AbortSignal): Promise<string | undefined> {
    for (;;) {
      if (signal?.aborted) {
        // It may have been woken for a key that it will not take: somebody else must.
        if (this.#ready.size > 0) this.#wake()
        throw abortReason(signal)
      }
      const key = this.tryGet()
      if (key !== undefined || this.#shutDown) return key
      await this.#wakeUp(signal)
    }
  }

  /** The work on `key` has ended, well or not. If it was added meanwhile it becomes ready again. */
  done(key: string): void {
    const entry = this.#entries.get(key)
    if (entry?.state !== 'running') {
      throw new TenureError('TENURE_QUEUE_NOT_RUNNING', `${key} is not being worked on: done() was called twice.`, {
        fate: 'bug',
      })
    }
    const now = this.#clock.monotonic()
    this.#instruments.workDuration.observe((now - entry.since) / 1000)
    this.#running--
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

  /** Takes nothing more and hands nothing more out. What runs goes on: `drained` tells when it ended. */
  shutDown(): void {
    if (this.#shutDown) return
    this.#shutDown = true
    this.#timer?.cancel()
    this.#timer = undefined
    this.#ready.clear()
    this.#delayed.clear()
    for (const [key, entry] of this.#entries) if (entry.state !== 'running') this.#entries.delete(key)
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
    this.#instruments.close()
    if (this.#running === 0) this.#drained()
  }

  /** Resolves when the queue is shut down and nothing runs any more. */
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
    this.#ready.push(entry)
    if (this.#waiters.size > 0) this.#wake()
    this.#onReady?.()
  }

  /** One timer for all delays, set for the first of them. */
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
