import type { Clock } from '@tenure/kube'
import { TokenBuckets } from '@tenure/kube'
import { HttpError } from '../errors/http-error.ts'

/** Seconds of its rate that a caller may use at once. */
const BURST_SECONDS = 2
/** Above this many callers the bucket of the one that called least recently is dropped. */
const MAX_CALLERS = 10_000

export interface RequestRateOptions {
  readonly clock: Clock
  /** Sustained requests per second of one caller. 0: no limit. */
  readonly perSecond: number
  /** The noun of the message: "Too many …". Default: `requests`. */
  readonly what?: string
}

/** Limits how often each caller may ask, so that one caller does not take the server from the others. */
export class RequestRate {
  readonly #buckets: TokenBuckets | undefined
  readonly #what: string

  constructor({ clock, perSecond, what = 'requests' }: RequestRateOptions) {
    this.#what = what
    this.#buckets =
      perSecond > 0
        ? new TokenBuckets({
            clock,
            burst: Math.max(1, Math.ceil(perSecond * BURST_SECONDS)),
            refillMs: 1_000 / perSecond,
            maxKeys: MAX_CALLERS,
          })
        : undefined
  }

  /** Throws a 429 if the caller has sent too many. */
  take(caller: string): void {
    if (!this.#buckets || this.#buckets.take(caller)) return
    throw new HttpError('TENURE_HTTP_RATE', 429, `Too many ${this.#what}; try again in a second`, {
      headers: { 'retry-after': '1' },
    })
  }
}
