import { LRUCache } from 'lru-cache'
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
  readonly #buckets: LRUCache<string, TokenBucket>

  constructor(options: TokenBucketsOptions) {
    this.#options = options
    this.#buckets = new LRUCache({ max: options.maxKeys })
  }

  get size(): number {
    return this.#buckets.size
  }

  take(key: string): boolean {
    let bucket = this.#buckets.get(key)
    if (!bucket) {
      bucket = new TokenBucket(this.#options)
      this.#buckets.set(key, bucket)
    }
    const isTaken = bucket.take()
    this.#dropFull()
    return isTaken
  }

  /** Looks at the least recently used buckets only: the cost of a call stays constant. */
  #dropFull(): void {
    for (const key of this.#buckets.rkeys()) {
      if (!this.#buckets.peek(key)?.isFull) return
      this.#buckets.delete(key)
    }
  }
}
