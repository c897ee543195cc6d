/** A server that receives the requests of the corpus. */
import {
  type ConnectionConfig,
  HttpTransport,
  loadConfig,
  SecretValue,
  type Transport,
  type TransportRequest,
} from '@tenure/kube'

import type { Json, JsonObject, RequestStep } from './case.ts'
import { valueAt } from './paths.ts'

export interface Answer {
  readonly status: number
  readonly headers: JsonObject
  readonly body: Json
}

/** The headers that are compared. */
const HEADERS = ['content-type', 'warning', 'allow', 'location']

/** The prefix of the field manager in requests that name none. */
const USER_AGENT = 'differential/1.0 (test)'

const open = (who: ConnectionConfig): Transport => new HttpTransport(who, { userAgent: USER_AGENT })

export class ServerUnderTest {
  readonly #transports: Readonly<Record<'admin' | NonNullable<RequestStep['as']>, Transport>>

  private constructor(config: ConnectionConfig) {
    const { certificate: _, ...tls } = config.tls
    const anonymous: ConnectionConfig = { ...config, tls, credential: { kind: 'none' } }
    const invalidToken: ConnectionConfig = {
      ...anonymous,
      credential: { kind: 'token', token: new SecretValue('stranger') },
    }
    this.#transports = { admin: open(config), anonymous: open(anonymous), 'invalid-token': open(invalidToken) }
  }

  static async open(kubeconfigPath: string): Promise<ServerUnderTest> {
    return new ServerUnderTest(await loadConfig({ kubeconfigPath, env: {} }))
  }

  async ask(step: RequestStep): Promise<Answer> {
    const { method, path, body, headers, as = 'admin' } = step
    const response = await this.#transports[as].request({
      // The corpus has methods that the client's type does not allow.
      method: method as TransportRequest['method'],
      path,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, headers: pickHeaders(response.headers), body: parsed(await response.body.text()) }
  }

  /** Opens a watch. */
  async watch(path: string, headers: Readonly<Record<string, string>>): Promise<EventReader | Answer> {
    const abort = new AbortController()
    const response = await this.#transports.admin.request({
      method: 'GET',
      path,
      headers: { accept: 'application/json', ...headers },
      stream: true,
      signal: abort.signal,
    })
    if (response.status === 200) return new EventReader(response.body, () => abort.abort())
    return { status: response.status, headers: pickHeaders(response.headers), body: parsed(await response.body.text()) }
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#transports).map((transport) => transport.close()))
  }
}

function pickHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): JsonObject {
  const named = HEADERS.map((name) => [name, headers[name]] as const)
  // A repeated header equals one with comma-separated values.
  return Object.fromEntries(
    named.flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat().join(', ')]])),
  )
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** A bookmark that the server sends at any time. The bookmark after the initial events is compared. */
const isIncidental = (event: Json): boolean =>
  valueAt(event, 'type') === 'BOOKMARK' &&
  valueAt(event, 'object>metadata>annotations>k8s.io/initial-events-end') === undefined

/** Milliseconds to wait for an event. */
const EVENT_TIMEOUT_MS = 10_000

/** Reads the lines of a watch, one event each. */
export class EventReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #cancel: () => void
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(body: AsyncIterable<Uint8Array>, cancel: () => void) {
    this.#chunks = body[Symbol.asyncIterator]()
    this.#cancel = cancel
  }

  /** Reads `count` events, or fewer and the reason: the end of the watch or a timeout. */
  async read(count: number | 'all'): Promise<readonly Json[]> {
    const events: Json[] = []
    const most = count === 'all' ? Infinity : count
    const patience = Promise.withResolvers<'silence'>()
    const timer = setTimeout(() => patience.resolve('silence'), EVENT_TIMEOUT_MS)
    try {
      while (events.length < most) {
        const line = await Promise.race([this.#line(), patience.promise.then(() => null)])
        if (line === null) return [...events, `(nothing more within ${EVENT_TIMEOUT_MS / 1000} s)`]
        if (line === undefined) return [...events, '(the end)']
        const event = parsed(line)
        if (!isIncidental(event)) events.push(event)
      }
      return events
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#cancel()
  }

  async #line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n')
      if (end >= 0) {
        const line = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 1)
        return line
      }
      const { value, done } = await this.#chunks.next()
      if (done === true) return undefined
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }
}
