import type { Clock } from '@tenure/kube'

interface Bucket {
  tokens: number
  at: number
}

/**
 * A bucket of tokens per key, on the monotonic clock. Holds at most `most` keys: the one longest unused is forgotten
 * first, and one that has been full again for long is as good as forgotten.
 */
export class TokenBuckets {
  readonly #clock: Clock
  readonly #burst: number
  readonly #refill: number
  readonly #most: number
  readonly #buckets = new Map<string, Bucket>()

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
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, at: now }
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (now - bucket.at) / this.#refill)
    bucket.at = now
    // Moved to the end: the map is in order of last use.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    this.#trim(now)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  #trim(now: number): void {
    for (const [key, { at }] of this.#buckets) {
      const full = now - at >= this.#burst * this.#refill
      if (!full && this.#buckets.size <= this.#most) return
      this.#buckets.delete(key)
    }
  }
}
