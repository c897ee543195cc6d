import { abortReason, systemClock } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { ConnectionError } from '../errors/errors.ts'
import type { Kind } from '../model/kind.ts'
import { rateLimiter } from './rate-limit.ts'
import type { RateLimitOptions } from './rate-limit.ts'
import type { TokenBucket } from '../token-bucket.ts'
import { systemRandom } from '../random.ts'
import type { Random } from '../random.ts'
import { RetryPolicy, wasNotProcessed } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import { apiErrorFrom } from '../errors/status-error.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts'

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply'
  | 'delete'
  | 'deletecollection'
  /** Paths other than resources: discovery, `/version`. */
  | 'raw'

export interface ApiRequest extends TransportRequest {
  readonly verb: Verb
  readonly kind?: Kind
  /** The request has the same effect if it runs twice, so it may be retried after a lost response. */
  readonly idempotent: boolean
  /** Whether this error of a retry shows that an earlier attempt, whose response was lost, succeeded. Default: never. */
  readonly carriedOut?: (error: unknown) => boolean
}

/** A finished attempt of a request, with or without a response. */
export interface ResponseInfo {
  readonly verb: Verb
  readonly method: TransportRequest['method']
  readonly path: string
  readonly kind: Kind | undefined
  /** Counts from 1. */
  readonly attempt: number
  /** Undefined: no response. */
  readonly status: number | undefined
  /** Includes the server's `warning` header, if any. */
  readonly headers: TransportResponse['headers']
  /** Milliseconds until the end of the response; for a watch, until its headers. */
  readonly duration: number
  readonly error: unknown
}

export interface RequesterOptions {
  readonly transport: Transport
  /** Default: the system clock. */
  readonly clock?: Clock | undefined
  /** Default: the randomness of the system. */
  readonly random?: Random | undefined
  /** Retries of failed requests. Default: up to 5 attempts within 10 seconds. */
  readonly retry?: RetryOptions | undefined
  /** A client-side limit. Default none: the server's priority and fairness decides. */
  readonly rateLimit?: RateLimitOptions | undefined
  /** Called after every attempt, for metrics and logs. It must not throw. Default: none. */
  readonly onResponse?: ((info: ResponseInfo) => void) | undefined
}

export interface ApiResponse {
  /** Undefined: an empty body. */
  readonly value: unknown
  readonly headers: TransportResponse['headers']
}

/** Sends requests with JSON responses over a Transport. Decodes errors, retries where that is safe, and keeps the rate limit. */
export class Requester {
  readonly clock: Clock
  readonly #transport: Transport
  readonly #retry: RetryPolicy
  readonly #limiter: TokenBucket | undefined
  readonly #onResponse: ((info: ResponseInfo) => void) | undefined

  constructor(options: RequesterOptions) {
    this.clock = options.clock ?? systemClock
    this.#transport = options.transport
    this.#retry = new RetryPolicy(this.clock, options.random ?? systemRandom, options.retry)
    this.#limiter = options.rateLimit && rateLimiter(this.clock, options.rateLimit)
    this.#onResponse = options.onResponse
  }

  /** The parsed response. Throws an ApiError unless the status is 2xx. */
  json(request: ApiRequest): Promise<ApiResponse> {
    let lost = false
    const attempt = async (number: number): Promise<ApiResponse> => {
      try {
        return await this.#attempt(request, number)
      } catch (error) {
        if (lost && request.carriedOut?.(error)) return { value: undefined, headers: {} }
        lost ||= !wasNotProcessed(error)
        throw error
      }
    }
    return this.#retry.run(attempt, request, request.signal)
  }

  /** A streamed response, not read yet. It is not retried: the reader of the stream knows where and when to resume. */
  async stream(request: ApiRequest): Promise<TransportResponse> {
    await this.#admit(request)
    const start = this.clock.monotonic()
    let response: TransportResponse | undefined
    try {
      response = await this.#transport.request(request)
      if (!isSuccess(response)) throw apiErrorFrom(request, response, await response.body.text(), this.clock)
    } catch (error) {
      this.#report(request, 1, start, response, error)
      throw error
    }
    this.#report(request, 1, start, response, undefined)
    return response
  }

  async #attempt(request: ApiRequest, attempt: number): Promise<ApiResponse> {
    await this.#admit(request)
    const start = this.clock.monotonic()
    let response: TransportResponse | undefined
    let value: unknown
    try {
      response = await this.#transport.request(request)
      const text = await response.body.text()
      if (!isSuccess(response)) throw apiErrorFrom(request, response, text, this.clock)
      value = text === '' ? undefined : parse(request, text)
    } catch (error) {
      this.#report(request, attempt, start, response, error)
      throw error
    }
    this.#report(request, attempt, start, response, undefined)
    return { value, headers: response.headers }
  }

  async #admit(request: ApiRequest): Promise<void> {
    if (request.signal?.aborted) throw abortReason(request.signal)
    if (this.#limiter) await this.#limiter.acquire(request.signal)
  }

  #report(
    request: ApiRequest,
    attempt: number,
    start: number,
    response: TransportResponse | undefined,
    error: unknown,
  ): void {
    this.#onResponse?.({
      verb: request.verb,
      method: request.method,
      path: request.path,
      kind: request.kind,
      attempt,
      status: response?.status,
      headers: response?.headers ?? {},
      duration: this.clock.monotonic() - start,
      error,
    })
  }
}

function isSuccess(response: TransportResponse): boolean {
  return response.status >= 200 && response.status < 300
}

function parse(request: ApiRequest, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConnectionError(
      'TENURE_ANSWER_UNREADABLE',
      `The response to ${request.method} ${request.path.split('?', 1)[0]} is not JSON (${text.length} characters): check for a proxy that changes responses.`,
      { cause },
    )
  }
}
