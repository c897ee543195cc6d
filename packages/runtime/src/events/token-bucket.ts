import type { Clock } from '@tenure/kube'

/** A bucket that holds `burst` tokens and gets one back every `refill` milliseconds, on the monotonic clock. */
export class TokenBucket {
  readonly #clock: Clock
  readonly #burst: number
  readonly #refill: number
  #tokens: number
  #at: number

  constructor(clock: Clock, burst: number, refill: number) {
    this.#clock = clock
    this.#burst = burst
    this.#refill = refill
    this.#tokens = burst
    this.#at = clock.monotonic()
  }

  /** Monotonic time of the last attempt to take a token. */
  get at(): number {
    return this.#at
  }

  /** Takes a token if there is one. */
  take(): boolean {
    const now = this.#clock.monotonic()
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) / this.#refill)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  /** Milliseconds until there is a token, rounded up; 0 if there is one. */
  get wait(): number {
    const left = (1 - this.#tokens) * this.#refill - (this.#clock.monotonic() - this.#at)
    return Math.max(0, Math.ceil(left))
  }
}

/** One bucket per key. Holds at most `most` keys and drops the least recently used one. */
export class TokenBuckets {
  readonly #clock: Clock
  readonly #burst: number
  readonly #refill: number
  readonly #most: number
  readonly #buckets = new Map<string, TokenBucket>()

  /** `refill`: milliseconds per token. */
  constructor(clock: Clock, burst: number, refill: number, most: number) {
    this.#clock = clock
    this.#burst = burst
    this.#refill = refill
    this.#most = most
  }

  get size(): number {
    return this.#buckets.size
  }

  take(key: string): boolean {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#clock, this.#burst, this.#refill)
    const isTaken = bucket.take()
    // Moving the key to the end keeps the map in order of last use.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    this.#trim()
    return isTaken
  }

  #trim(): void {
    const now = this.#clock.monotonic()
    for (const [key, { at }] of this.#buckets) {
      const full = now - at >= this.#burst * this.#refill
      if (!full && this.#buckets.size <= this.#most) return
      this.#buckets.delete(key)
    }
  }
}
