import type { Clock, KubeObject, Stored, Timer } from '@tenure/kube'
import type { EventContent, Recorder } from '@tenure/runtime'

export interface EventLimiterOptions {
  readonly clock: Clock
  /** Whether more important work is in progress. Default: never. */
  readonly isBusy?: () => boolean
  /** Events at once after a quiet time. Default 20. */
  readonly burst?: number
  /** Events per second in the long run. Default 50. */
  readonly rate?: number
  /** Events per second while busy. Default 5. */
  readonly busyRate?: number
  /** Queued events; beyond it the oldest is dropped. Default 10,000. */
  readonly maxQueued?: number
}

interface QueuedEvent {
  readonly run: () => void
  /** Wall clock time after which the event is dropped. */
  readonly until: number
  readonly dropped: (() => void) | undefined
}

/** Rate-limits Events so that they do not delay deletions: thousands of leases may start or end together. */
export class EventLimiter {
  readonly #clock: Clock
  readonly #isBusy: () => boolean
  readonly #burst: number
  readonly #rate: number
  readonly #busyRate: number
  readonly #maxQueued: number
  #queued: QueuedEvent[] = []
  /** Entries before it are done; removed in batches. */
  #first = 0
  #tokens: number
  #refilled: number
  #timer: Timer | undefined
  #closed = false

  constructor(options: EventLimiterOptions) {
    this.#clock = options.clock
    this.#isBusy = options.isBusy ?? (() => false)
    this.#burst = options.burst ?? 20
    this.#rate = options.rate ?? 50
    this.#busyRate = options.busyRate ?? 5
    this.#maxQueued = options.maxQueued ?? 10_000
    this.#tokens = this.#burst
    this.#refilled = options.clock.monotonic()
  }

  get size(): number {
    return this.#queued.length - this.#first
  }

  /** A recorder whose Events pass through this limiter. */
  limit(recorder: Recorder): Recorder {
    return {
      record: (object: Stored<KubeObject>, event: EventContent) => this.add(() => recorder.record(object, event)),
    }
  }

  /** Calls `run` in order as the rate allows, or `dropped` if that would be after `until`. Neither may throw. */
  add(run: () => void, until = Infinity, dropped?: () => void): void {
    if (this.#closed) {
      if (until === Infinity) run()
      else dropped?.()
      return
    }
    this.#queued.push({ run, until, dropped })
    if (this.size > this.#maxQueued) this.#queued[this.#first++]?.dropped?.()
    if (!this.#timer) this.#pump()
  }

  /** Runs all queued events at once, and later ones immediately. Events with an `until` are dropped. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#timer = undefined
    for (let entry = this.#take(); entry; entry = this.#take()) {
      if (entry.until === Infinity) entry.run()
      else entry.dropped?.()
    }
  }

  #pump(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    const rate = this.#isBusy() ? this.#busyRate : this.#rate
    this.#tokens = Math.min(this.#tokens + ((now - this.#refilled) / 1_000) * rate, this.#burst)
    this.#refilled = now
    while (this.#tokens >= 1) {
      const entry = this.#take()
      if (!entry) return
      this.#tokens--
      entry.run()
    }
    if (this.size === 0) return
    // Whole milliseconds: rounding may leave a fraction of a token to wait for that no clock can measure.
    const delay = Math.max(Math.ceil(((1 - this.#tokens) / rate) * 1_000), 1)
    this.#timer = this.#clock.setTimer(delay, () => this.#pump())
  }

  /** The next event that has not passed its `until`. */
  #take(): QueuedEvent | undefined {
    for (;;) {
      const entry = this.#queued[this.#first]
      if (!entry) {
        this.#queued = []
        this.#first = 0
        return undefined
      }
      this.#first++
      if (this.#first > 1_024 && this.#first * 2 > this.#queued.length) {
        this.#queued = this.#queued.slice(this.#first)
        this.#first = 0
      }
      if (entry.until > this.#clock.now()) return entry
      entry.dropped?.()
    }
  }
}
