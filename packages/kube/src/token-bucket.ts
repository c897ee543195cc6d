import { sleep, type Clock } from './clock.ts'

export interface TokenBucketOptions {
  readonly clock: Clock
  /** How many tokens the bucket holds. It starts full. */
  readonly burst: number
  /** Milliseconds until a token taken is back. */
  readonly refillMs: number
}

/** Sums of fractions may miss a bound by this many milliseconds. */
const ROUNDING_MS = 1e-6

/** A token bucket on the monotonic clock. */
export class TokenBucket {
  readonly #clock: Clock
  readonly #refillMs: number
  /** Milliseconds from empty to full. */
  readonly #capacityMs: number
  /** When the bucket is full again; each token taken moves it by one refill. */
  #fullAt: number

  constructor({ clock, burst, refillMs }: TokenBucketOptions) {
    this.#clock = clock
    this.#refillMs = refillMs
    this.#capacityMs = burst * refillMs
    this.#fullAt = clock.monotonic()
  }

  get isFull(): boolean {
    return this.#fullAt <= this.#clock.monotonic()
  }

  /** Takes a token if there is one. */
  take(): boolean {
    const now = this.#clock.monotonic()
    const fullAt = Math.max(this.#fullAt, now) + this.#refillMs
    if (fullAt - now > this.#capacityMs + ROUNDING_MS) return false
    this.#fullAt = fullAt
    return true
  }

  /** Milliseconds until there is a token, 0 if there is one. Rounded up, so that a timer never fires too early. */
  get wait(): number {
    const now = this.#clock.monotonic()
    return Math.max(0, Math.ceil(Math.max(this.#fullAt, now) + this.#refillMs - now - this.#capacityMs - ROUNDING_MS))
  }

  /** Takes a token, waiting for it in the order of calls. An aborted call gives its token back. */
  async acquire(signal?: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic()
    this.#fullAt = Math.max(this.#fullAt, now) + this.#refillMs
    const wait = this.#fullAt - now - this.#capacityMs
    if (wait <= ROUNDING_MS) return
    try {
      await sleep(this.#clock, wait, signal)
    } catch (error) {
      this.#fullAt -= this.#refillMs
      throw error
    }
  }
}

export interface TokenBucketsOptions extends TokenBucketOptions {
  /** Above this many keys the least recently used one is dropped. */
  readonly maxKeys: number
}

/** A token bucket per key. Full buckets are dropped: a new one is the same. */
export class TokenBuckets {
  readonly #options: TokenBucketsOptions
  /** In order of last use. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(options: TokenBucketsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#buckets.size
  }

  take(key: string): boolean {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#options)
    const isTaken = bucket.take()
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    this.#trim()
    return isTaken
  }

  #trim(): void {
    for (const [key, bucket] of this.#buckets) {
      if (!bucket.isFull && this.#buckets.size <= this.#options.maxKeys) return
      this.#buckets.delete(key)
    }
  }
}
