import type { Clock } from '../clock.ts'
import { TokenBucket } from '../token-bucket.ts'

export interface RateLimitOptions {
  /** Requests per second, sustained. */
  readonly qps: number
  /** How many requests may go at once after an idle time. Default: `qps` rounded up, at least 1. */
  readonly burst?: number
}

/** The token bucket from which each request takes a token. */
export function rateLimiter(clock: Clock, { qps, burst }: RateLimitOptions): TokenBucket {
  if (!(qps > 0)) throw new RangeError(`qps must be more than 0, not ${qps}`)
  return new TokenBucket({ clock, burst: Math.max(burst ?? Math.ceil(qps), 1), refillMs: 1000 / qps })
}
