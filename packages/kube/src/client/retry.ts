import { sleep } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { ApiError, ConnectionError } from '../errors/errors.ts'
import type { Random } from '../random.ts'

export interface RetryOptions {
  /** Maximum number of attempts; 1 disables retries. Default 5. */
  readonly attempts?: number
  /** The first delay in milliseconds. It doubles each time; jitter shortens each delay by up to half. Default 200. */
  readonly initialDelay?: number
  /** Maximum delay in milliseconds. Default 3000. */
  readonly maxDelay?: number
  /** Milliseconds after the first attempt after which no attempt starts. Default 10,000. */
  readonly budget?: number
}

/** Whether a request may be retried if it is unknown whether it was processed. */
export interface Repeatable {
  readonly idempotent: boolean
}

export class RetryPolicy {
  readonly #attempts: number
  readonly #initialDelay: number
  readonly #maxDelay: number
  readonly #budget: number
  readonly #clock: Clock
  readonly #random: Random

  constructor(clock: Clock, random: Random, options: RetryOptions = {}) {
    this.#clock = clock
    this.#random = random
    this.#attempts = options.attempts ?? 5
    this.#initialDelay = options.initialDelay ?? 200
    this.#maxDelay = options.maxDelay ?? 3000
    this.#budget = options.budget ?? 10_000
  }

  /** Runs `attempt` (with its number, from 1) until it succeeds or may not be retried; then throws its last error. */
  async run<R>(attempt: (number: number) => Promise<R>, request: Repeatable, signal?: AbortSignal): Promise<R> {
    const start = this.#clock.monotonic()
    for (let number = 1; ; number++) {
      try {
        return await attempt(number)
      } catch (error) {
        if (number >= this.#attempts || signal?.aborted) throw error
        const delay = this.#delayAfter(error, number, request)
        if (delay === undefined || this.#clock.monotonic() - start + delay > this.#budget) throw error
        await sleep(this.#clock, delay, signal)
      }
    }
  }

  #delayAfter(error: unknown, number: number, { idempotent }: Repeatable): number | undefined {
    const backoff = Math.min(this.#initialDelay * 2 ** (number - 1), this.#maxDelay)
    const jittered = backoff * (1 - this.#random.fraction() / 2)
    if (error instanceof ApiError) {
      if (!wasNotProcessed(error) && !(idempotent && isTransient(error.status))) return undefined
      // Never earlier than the server asked, and spread over time.
      return error.retryAfter === undefined ? jittered : error.retryAfter + this.#random.fraction() * backoff
    }
    return idempotent && error instanceof ConnectionError && error.fate === 'retry' ? jittered : undefined
  }
}

/** Whether the server rejected the request before processing it (429, or 503 with Retry-After): any method may be retried. */
export function wasNotProcessed(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.status === 429 || (error.status === 503 && error.retryAfter !== undefined)
}

function isTransient(status: number): boolean {
  return status === 500 || (status >= 502 && status <= 504)
}
