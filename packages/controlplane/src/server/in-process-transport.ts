import { setImmediate as nextTurn } from 'node:timers/promises'
import { abortReason, ConnectionError, sleep } from '@tenure/kube'
import type { Clock, ResponseBody, Transport, TransportRequest, TransportResponse } from '@tenure/kube'
import { statusBody } from '../errors.ts'
import type { StatusError } from '../errors.ts'
import type { User } from '../registry/types.ts'
import type { ApiServer } from './api-server.ts'
import { ListBody } from './encoding/list-body.ts'
import type { ServerResponse } from './http/response.ts'
import { WatchFeed } from './watch/watch-feed.ts'

/** A fault of one request, for tests. All parts are optional and can be combined. */
export interface Fault {
  /** Milliseconds before the request is carried out. */
  readonly delay?: number
  /** The response, instead of carrying the request out: a `conflict(…)`, a 500, a 429. */
  readonly error?: StatusError
  /** The request never arrives and is not carried out. */
  readonly isLost?: boolean
  /** The request is carried out, and its response is lost. */
  readonly isResponseLost?: boolean
  /** Reads return the state at this revision. */
  readonly staleAt?: number
  /** The watch breaks after this many chunks. */
  readonly breaksAfter?: number
}

export interface InProcessTransportOptions {
  readonly server: ApiServer
  /** The user of all requests. */
  readonly user: User
  readonly clock: Clock
  /** Called before every request for the fault to inject. Default: none. */
  readonly faults?: ((request: TransportRequest) => Fault | undefined) | undefined
}

/** Requests between turns of the event loop: a client that answers each response with a request must not starve it. */
const REQUESTS_PER_TURN = 32
const CHUNK_BYTES = 256 * 1024
const NEVER = new AbortController().signal

/** Requests without sockets, to the same server and with the same responses. */
export class InProcessTransport implements Transport {
  readonly #options: InProcessTransportOptions
  readonly #watches = new Set<FeedBody>()
  #requests = 0
  #turn: Promise<void> | undefined
  #isDown = false
  #dateSecond = 0
  #date = ''

  constructor(options: InProcessTransportOptions) {
    this.#options = options
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { server, user, clock } = this.#options
    const { signal } = request
    if (signal?.aborted) throw abortReason(signal)
    if (this.#isDown) throw unreachable()
    if (++this.#requests % REQUESTS_PER_TURN === 0) await this.#nextTurn()
    const fault = this.#options.faults?.(request)
    if (fault?.delay !== undefined) await sleep(clock, fault.delay, signal)
    if (fault?.isLost || this.#isDown) throw unreachable()
    const response = fault?.error
      ? errorResponse(fault.error)
      : await server.handle({
          method: request.method,
          path: request.path,
          headers: request.headers ?? {},
          body: request.body,
          user,
          signal: signal ?? NEVER,
          at: fault?.staleAt,
        })
    const { body } = response
    if (fault?.isResponseLost || this.#isDown || signal?.aborted) {
      if (body instanceof WatchFeed) body.close()
      throw signal?.aborted ? abortReason(signal) : lost()
    }
    const headers = { ...response.headers, date: this.#dateHeader() }
    if (typeof body === 'string') return { status: response.status, headers, body: new TextBody(body) }
    if (body instanceof ListBody) return { status: response.status, headers, body: new LongBody(body) }
    const feed = new FeedBody(body, fault?.breaksAfter ?? Infinity, (ended) => this.#watches.delete(ended))
    this.#watches.add(feed)
    return { status: response.status, headers, body: feed }
  }

  /** Breaks every open watch as if its connection were lost. */
  dropWatches(): void {
    for (const watch of this.#watches) watch.break(lost())
  }

  /** Imitates a crashed server: watches break, and requests fail until `revive`. */
  crash(): void {
    this.#isDown = true
    this.dropWatches()
  }

  revive(): void {
    this.#isDown = false
  }

  async close(): Promise<void> {
    this.crash()
  }

  #nextTurn(): Promise<void> {
    // All waiting requests share one turn.
    this.#turn ??= this.#takeTurn()
    return this.#turn
  }

  async #takeTurn(): Promise<void> {
    await nextTurn()
    this.#turn = undefined
  }

  #dateHeader(): string {
    const second = Math.floor(this.#options.clock.now() / 1000)
    if (second !== this.#dateSecond) {
      this.#dateSecond = second
      this.#date = new Date(second * 1000).toUTCString()
    }
    return this.#date
  }
}

function errorResponse(error: StatusError): ServerResponse {
  const wait = error.details?.retryAfterSeconds
  return {
    status: error.code,
    headers: { 'content-type': 'application/json', ...(wait !== undefined && { 'retry-after': String(wait) }) },
    body: JSON.stringify(statusBody(error)),
  }
}

const unreachable = (): ConnectionError =>
  new ConnectionError('TENURE_CONNECTION_REFUSED', 'The embedded control plane is not running. Start it, or try again.')
const lost = (): ConnectionError =>
  new ConnectionError('TENURE_CONNECTION_LOST', 'The connection to the embedded control plane broke. Try again.')

class TextBody implements ResponseBody {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  text(): Promise<string> {
    return Promise.resolve(this.#text)
  }

  cancel(): void {
    // Nothing to free.
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    yield Buffer.from(this.#text)
  }
}

class LongBody implements ResponseBody {
  readonly #list: ListBody

  constructor(list: ListBody) {
    this.#list = list
  }

  text(): Promise<string> {
    return Promise.resolve(this.#list.text())
  }

  cancel(): void {
    // Nothing to free.
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    for (let size = this.#list.fill(buffer); size > 0; size = this.#list.fill(buffer)) yield buffer.subarray(0, size)
  }
}

/** The bytes of a watch, pulled by the reader. */
class FeedBody implements ResponseBody {
  readonly #feed: WatchFeed
  readonly #onEnd: (body: FeedBody) => void
  #left: number
  #failure: Error | undefined
  #isOver = false
  #wake: (() => void) | undefined

  constructor(feed: WatchFeed, chunks: number, onEnd: (body: FeedBody) => void) {
    this.#feed = feed
    this.#left = chunks
    this.#onEnd = onEnd
    feed.open(() => this.#wake?.())
  }

  break(error: Error): void {
    this.#failure ??= error
    this.cancel()
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#feed.close()
    this.#onEnd(this)
    this.#wake?.()
  }

  async text(): Promise<string> {
    const chunks: Uint8Array[] = []
    for await (const chunk of this) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => this.#next(),
      return: () => {
        this.cancel()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      if (this.#failure) throw this.#failure
      if (this.#isOver) return { done: true, value: undefined }
      const chunk = this.#feed.take(CHUNK_BYTES)
      if (chunk) {
        if (this.#left-- > 0) return { done: false, value: chunk }
        this.break(lost())
        continue
      }
      if (this.#feed.isOver) {
        this.cancel()
        return { done: true, value: undefined }
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }
}
