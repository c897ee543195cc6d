import type { Clock, Timer } from '@tenure/kube'

export interface EventLimiterOptions {
  readonly clock: Clock
  /** Whether something more important is under way. Default: never. */
  readonly isBusy?: () => boolean
  /** So many at once, after a quiet time. Default 20. */
  readonly burst?: number
  /** So many a second, in the long run. Default 50. */
  readonly rate?: number
  /** So many a second while busy. Default 5. */
  readonly busyRate?: number
  /** So many wait; beyond it the oldest is dropped. Default 10,000. */
  readonly most?: number
}

interface Waiting {
  readonly run: () => void
  /** Not worth it any more after this, on the wall clock. */
  readonly until: number
  readonly dropped: (() => void) | undefined
}

/**
 * Lets courtesies through at a modest pace, in order. A thousand leases that begin or end together would otherwise
 * recordEvent so in thousands of Events, in the way of the very deletions they recordEvent of.
 */
export class EventLimiter {
  readonly #clock: Clock
  readonly #isBusy: () => boolean
  readonly #burst: number
  readonly #rate: number
  readonly #busyRate: number
  readonly #most: number
  #waiting: Waiting[] = []
  /** Entries before it are gone; cut off now and then. */
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
    this.#most = options.most ?? 10_000
    this.#tokens = this.#burst
    this.#refilled = options.clock.monotonic()
  }

  get size(): number {
    return this.#waiting.length - this.#first
  }

  /** Runs it now or in its turn; or calls `dropped` instead, if that would be after `until`. They must not throw. */
  add(run: () => void, until = Infinity, dropped?: () => void): void {
    if (this.#closed) {
      if (until === Infinity) run()
      else dropped?.()
      return
    }
    this.#waiting.push({ run, until, dropped })
    if (this.size > this.#most) this.#waiting[this.#first++]?.dropped?.()
    if (!this.#timer) this.#pump()
  }

  /** Runs what is left at once, in order, and from now on what is added. What has an `until` is dropped. */
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
    this.#timer = this.#clock.setTimer(((1 - this.#tokens) / rate) * 1_000, () => this.#pump())
  }

  /** The next that is still worth it. */
  #take(): Waiting | undefined {
    for (;;) {
      const entry = this.#waiting[this.#first]
      if (!entry) {
        this.#waiting = []
        this.#first = 0
        return undefined
      }
      this.#first++
      if (this.#first > 1_024 && this.#first * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#first)
        this.#first = 0
      }
      if (entry.until > this.#clock.now()) return entry
      entry.dropped?.()
    }
  }
}
