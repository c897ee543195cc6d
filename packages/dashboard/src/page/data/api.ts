import type { PageFetch } from '../browser.ts'

/** A problem of one field of a request. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
  readonly value?: unknown
}

/** A request that failed. The message is the server's, if it sent one. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure'
  /** HTTP status; 0: the server could not be reached. */
  readonly status: number
  readonly problems: readonly FieldProblem[]

  constructor(status: number, message: string, problems: readonly FieldProblem[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.problems = problems
  }
}

export interface ApiRequestOptions {
  readonly method?: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Characters of a plain error text that are shown. */
const MAX_MESSAGE_LENGTH = 500

/** Requests to the server that served the page. Paths are relative, so that the page works below any prefix. */
export class DashboardApi {
  readonly #fetch: PageFetch
  #token: string | undefined
  /** Called after a 401. */
  onUnauthorized: () => void = () => undefined

  constructor(fetch: PageFetch) {
    this.#fetch = fetch
  }

  get isSignedIn(): boolean {
    return this.#token !== undefined
  }

  /** The token lives in memory alone: a reload of the page forgets it. */
  set token(token: string | undefined) {
    this.#token = token
  }

  async json<T>(path: string, options: ApiRequestOptions = {}): Promise<T> {
    const response = await this.#request(path, {
      ...options,
      headers: { accept: 'application/json', ...options.headers },
    })
    const text = await readText(response)
    if (text === '') return undefined as T
    try {
      return JSON.parse(text) as T
    } catch (error) {
      throw new RequestFailure(response.status, `The server sent no JSON for ${path}.`, [], error)
    }
  }

  /** Opens a stream of server-sent events. */
  async stream(path: string, options: ApiRequestOptions): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream', ...options.headers }
    const { body } = await this.#request(path, { ...options, headers })
    if (!body) throw new RequestFailure(0, 'The server sent an empty stream.')
    return body
  }

  async #request(path: string, { method = 'GET', body, headers, signal }: ApiRequestOptions): Promise<Response> {
    const token = this.#token
    let response: Response
    try {
      response = await this.#fetch(path, {
        method,
        headers: {
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        cache: 'no-store',
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new RequestFailure(0, 'The server cannot be reached.', [], error)
    }
    if (response.ok) return response
    const failure = await failureOf(response)
    // A slow answer to an older token says nothing about the present one.
    if (failure.status === 401 && token === this.#token) this.onUnauthorized()
    throw failure
  }
}

async function failureOf(response: Response): Promise<RequestFailure> {
  const text = (await readText(response)).trim()
  try {
    const body = JSON.parse(text) as { readonly error?: unknown; readonly details?: unknown }
    if (typeof body.error === 'string') {
      const problems = Array.isArray(body.details) ? body.details.filter(isFieldProblem) : []
      return new RequestFailure(response.status, body.error, problems)
    }
  } catch {
    // Claims answer in plain text.
  }
  const isPage = response.headers.get('content-type')?.includes('html') === true
  const message = isPage ? '' : text.slice(0, MAX_MESSAGE_LENGTH)
  return new RequestFailure(response.status, message || `The server answered ${response.status}.`)
}

function isFieldProblem(value: unknown): value is FieldProblem {
  const { field, message } = (value ?? {}) as Partial<FieldProblem>
  return typeof field === 'string' && typeof message === 'string'
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw new RequestFailure(0, 'The connection broke during an answer.', [], error)
  }
}

/** A message for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Builds a query string; undefined and empty values are left out. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text && `?${text}`
}
