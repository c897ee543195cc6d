import { ClaimError, type ClientErrorCode } from './claim-error.ts'
import type { ClientCallOptions, ClaimsClientOptions, ClientClock, ClientFetch, ClientRandom } from './options.ts'
import { environmentVariable, systemClientClock, systemClientRandom, systemFetch } from './system.ts'
import { abortError, limited, pause } from './timing.ts'

/** Where the claims API listens by default. */
export const DEFAULT_URL = 'http://localhost:8080'
const MIN_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 10_000
/** A call gives up after this time without any answer: the address is wrong, or the API is down for longer than a restart. */
const MAX_UNREACHABLE_MS = 30_000
/** The share by which delays vary, so that clients which failed together do not return together. */
const JITTER = 0.2
/** Characters of an error response that become part of a message. */
const MAX_MESSAGE_LENGTH = 1_000

/** One call of the API, without its retries. */
export interface ApiCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Codes of responses that have a meaning of their own in this call. */
  readonly codes: Readonly<Partial<Record<number, ClientErrorCode>>>
  /** Milliseconds for one attempt. */
  readonly attemptTimeout: number
  /** Whether every 5xx is tried again. Default false: only 502 and 503, after which the server has no more work to do. */
  readonly retriesServerErrors?: boolean
}

/** A successful response. */
export interface ApiAnswer {
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown
  /** The server's time of the response, or ours if it did not say. Milliseconds since 1970. */
  readonly serverTime: number
  readonly method: string
  readonly url: string
}

/** Sends calls to the claims API, and repeats those that may succeed later. */
export class ApiRequests {
  readonly url: string
  readonly clock: ClientClock
  readonly random: ClientRandom
  readonly #fetch: ClientFetch
  readonly #token: ClaimsClientOptions['token']

  constructor(options: ClaimsClientOptions) {
    this.url = baseUrl(options.url ?? environmentVariable('CLAIMS_URL') ?? DEFAULT_URL)
    this.clock = options.clock ?? systemClientClock
    this.random = options.random ?? systemClientRandom
    this.#fetch = options.fetch ?? systemFetch
    this.#token = options.token
  }

  /** Rejects with a ClaimError, or with the reason of the signal. */
  async send(call: ApiCall, { timeout, signal, onRetry }: ClientCallOptions & { timeout: number }): Promise<ApiAnswer> {
    const deadline = this.clock.monotonic() + timeout
    let unreachableSince: number | undefined
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(call, deadline - this.clock.monotonic(), signal)
      } catch (error) {
        if (signal?.aborted) throw abortError(signal)
        if (!(error instanceof ClaimError) || !isRetryable(error, call)) throw error
        const now = this.clock.monotonic()
        unreachableSince = error.code === 'TENURE_CLAIM_UNREACHABLE' ? (unreachableSince ?? now) : undefined
        const left = Math.min(deadline, (unreachableSince ?? deadline) + MAX_UNREACHABLE_MS) - now
        if (left < MIN_BACKOFF_MS) throw error
        const { retryAfter } = error
        const delay =
          retryAfter === undefined ? Math.min(this.#backoff(attempt), left / 2) : Math.max(retryAfter, MIN_BACKOFF_MS)
        // Waiting for longer than the call may take would only delay the same failure.
        if (delay >= left) throw error
        onRetry?.(error, delay)
        await pause(this.clock, delay, signal)
      }
    }
  }

  async #attempt(call: ApiCall, left: number, parent: AbortSignal | undefined): Promise<ApiAnswer> {
    const delay = Math.max(Math.min(call.attemptTimeout, left), 0)
    const url = this.url + call.path
    const reason = (): ClaimError =>
      new ClaimError('TENURE_CLAIM_TIMEOUT', `${url} did not answer within ${Math.round(delay / 100) / 10} s.`)
    return await limited(this.clock, { delay, reason, parent }, async (signal) => {
      const init = await this.#init(call, signal)
      try {
        const response = await this.#fetch(url, init)
        const text = await response.text()
        if (!response.ok) throw this.#failure(call, response, text)
        return { body: parsed(url, text), serverTime: this.#serverTime(response), method: call.method, url }
      } catch (error) {
        if (error instanceof ClaimError) throw error
        if (signal.aborted) throw abortError(signal)
        throw new ClaimError('TENURE_CLAIM_UNREACHABLE', `Cannot reach ${url}: ${reasonOf(error)}`, { cause: error })
      }
    })
  }

  async #init({ method, body, headers }: ApiCall, signal: AbortSignal): Promise<RequestInit> {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token
    return {
      method,
      // A redirected POST would arrive as a GET.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    }
  }

  #failure(call: ApiCall, { status, headers }: Response, text: string): ClaimError {
    const retryAfter = retryAfterOf(headers.get('retry-after'), this.clock.now())
    const code = call.codes[status] ?? codeOf(status)
    return new ClaimError(code, messageOf(status, headers, text), { status, retryAfter })
  }

  /** The two clocks may differ by minutes; the expiry is a time of the server's. */
  #serverTime({ headers }: Response): number {
    const time = Date.parse(headers.get('date') ?? '')
    return Number.isNaN(time) ? this.clock.now() : time
  }

  #backoff(attempt: number): number {
    const delay = Math.min(MIN_BACKOFF_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS)
    return delay * (1 - JITTER + 2 * JITTER * this.random.fraction())
  }
}

function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const message = `${JSON.stringify(text)} is not the URL of a claims API: write it like ${DEFAULT_URL}.`
    throw new ClaimError('TENURE_CLAIM_ARGUMENT', message)
  }
  return url.href.replace(/[?#].*$/, '').replace(/\/+$/, '')
}

function isRetryable({ code, status }: ClaimError, call: ApiCall): boolean {
  if (status === undefined) return code === 'TENURE_CLAIM_UNREACHABLE' || code === 'TENURE_CLAIM_TIMEOUT'
  return [429, 502, 503].includes(status) || (status >= 500 && call.retriesServerErrors === true)
}

function codeOf(status: number): ClientErrorCode {
  switch (status) {
    case 400:
    case 413:
      return 'TENURE_CLAIM_INVALID_REQUEST'
    case 401:
    case 403:
      return 'TENURE_CLAIM_DENIED'
    case 429:
      return 'TENURE_CLAIM_TOO_MANY'
    case 504:
      return 'TENURE_CLAIM_TIMEOUT'
    default:
      return 'TENURE_CLAIM_REQUEST_FAILED'
  }
}

/** The API answers in plain text, and the HTTP server around it in JSON. Pages of a proxy are not messages. */
function messageOf(status: number, headers: Headers, text: string): string {
  const type = headers.get('content-type') ?? ''
  const message = type.includes('json') ? errorField(text) : type.includes('html') ? '' : text.trim()
  if (message) return message.slice(0, MAX_MESSAGE_LENGTH)
  const target = headers.get('location')
  return target ? `HTTP status ${status}, a redirect to ${target}` : `HTTP status ${status}`
}

function errorField(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown }
    return typeof error === 'string' ? error : ''
  } catch {
    return ''
  }
}

/** In milliseconds, from a number of seconds or a date. */
function retryAfterOf(text: string | null, now: number): number | undefined {
  if (text === null) return undefined
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : Math.max(time - now, 0)
}

function parsed(url: string, text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ClaimError('TENURE_CLAIM_ANSWER_INVALID', `The answer of ${url} is not JSON.`, { cause })
  }
}

/** fetch itself says only "fetch failed"; the cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  // A host name with several addresses fails with one error for each.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error && first.message ? first.message : error.message
}
