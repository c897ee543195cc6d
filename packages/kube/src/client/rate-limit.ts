import { sleep } from '../clock.ts'
import type { Clock } from '../clock.ts'

export interface RateLimitOptions {
  /** Requests per second, sustained. */
  readonly qps: number
  /** How many may go at once after a rest. Default: `qps` rounded up, at least 1. */
  readonly burst?: number
}

/** A token bucket. Waiters go in the order they came. */
export class RateLimiter {
  readonly #clock: Clock
  readonly #interval: number
  readonly #burst: number
  /** When the bucket would be full again; each request moves it by one interval. */
  #full: number

  constructor(clock: Clock, { qps, burst }: RateLimitOptions) {
    if (!(qps > 0)) throw new RangeError(`qps must be more than 0, not ${qps}`)
    this.#clock = clock
    this.#interval = 1000 / qps
    this.#burst = Math.max(burst ?? Math.ceil(qps), 1)
    this.#full = clock.monotonic()
  }

  /** Resolves when a request may go. One that is aborted gives its turn back. */
  async acquire(signal?: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic()
    this.#full = Math.max(this.#full, now) + this.#interval
    const wait = this.#full - now - this.#burst * this.#interval
    // A sum of fractions may miss zero by a hair; that is no reason for a timer.
    if (wait <= 1e-6) return
    try {
      await sleep(this.#clock, wait, signal)
    } catch (error) {
      this.#full -= this.#interval
      throw error
    }
  }
}
