import { setImmediate } from 'node:timers'
import { abortReason } from '../../clock.ts'
import { asError } from '../../errors/errors.ts'
import { ResponseParser, type ResponseHeaders, type ResponseSink } from './response-parser.ts'
import { StreamBuffer } from './stream-buffer.ts'
import { coded, requestHead, type StreamRequest } from './stream-request.ts'
import type { Socket } from 'node:net'
import type { OpenSocket } from './stream-socket.ts'
import type { ResponseBody, TransportResponse } from '../transport.ts'

/** With this many bytes waiting to be pulled the socket is no longer read; it is read on when they are. */
const HIGH_WATER = 512 * 1024

export interface StreamOptions {
  readonly open: OpenSocket
  /** For the `host` header. */
  readonly host: string
  /** Milliseconds until the connection must stand. */
  readonly connectTimeout: number
  /** Milliseconds until the answer must begin. */
  readonly headersTimeout: number
}

interface Waiter {
  resolve(result: IteratorResult<Uint8Array>): void
  reject(error: Error): void
}

/**
 * One request with a long answer, on a connection of its own. Not undici, which makes a buffer, a copy through
 * WebAssembly and a batch out of each of the 4 KB records that API servers send: here all that one turn of the event
 * loop brings is one chunk, in memory that is used again. In turn on a busy machine, a cache of 10,000 ConfigMaps took
 * 420 ms of CPU and 118 MB this way, 690 ms and 150 MB with undici, its loading included.
 *
 * A chunk is the reader's until it asks for the next.
 */
export class HttpStream implements ResponseBody, ResponseSink {
  readonly #request: StreamRequest
  readonly #options: StreamOptions
  readonly #explain: (error: Error) => Error
  readonly #parser = new ResponseParser(this)
  readonly #buffer = new StreamBuffer()
  readonly #answer = Promise.withResolvers<TransportResponse>()
  readonly #closed = Promise.withResolvers<void>()
  #socket: Socket | undefined
  #connected = false
  #paused = false
  #ended = false
  #cancelled = false
  #failure: Error | undefined
  #waiter: Waiter | undefined
  #handingOut = false

  /** `explain` words an error of the socket for a person. */
  constructor(request: StreamRequest, options: StreamOptions, explain: (error: Error) => Error) {
    this.#request = request
    this.#options = options
    this.#explain = explain
  }

  /** Resolves when the connection is gone. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Sends the request; resolves with the answer as soon as its head has come. */
  open(): Promise<TransportResponse> {
    const { signal } = this.#request
    if (signal?.aborted) this.#onAbort()
    else signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (this.#ended) this.#closed.resolve()
    else this.#send()
    return this.#answer.promise
  }

  /** Ends it with an error, unless it has ended. */
  destroy(error: Error): void {
    if (!this.#ended) this.#fail(this.#explain(error))
  }

  cancel(): void {
    this.#cancelled ||= !this.#ended
    this.#buffer.clear()
    this.#end()
  }

  async text(): Promise<string> {
    const parts: Buffer[] = []
    for await (const chunk of this) parts.push(Buffer.from(chunk))
    if (this.#cancelled) throw new Error('the answer was cancelled before its end')
    return Buffer.concat(parts).toString('utf8')
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

  onHead(status: number, headers: ResponseHeaders): void {
    this.#socket?.setTimeout(0)
    this.#answer.resolve({ status, headers, body: this })
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#buffer.add(bytes, start, end)
    if (this.#waiter && !this.#handingOut) {
      this.#handingOut = true
      // After all that is there to be read now has been read.
      setImmediate(this.#handOut)
    }
    if (this.#buffer.length >= HIGH_WATER && !this.#paused) {
      this.#paused = true
      this.#socket?.pause()
    }
  }

  onEnd(): void {
    this.#end()
  }

  #send(): void {
    const { open, host, connectTimeout, headersTimeout } = this.#options
    try {
      const head = requestHead(this.#request, host)
      const socket = open(this.#onRead, () => {
        this.#connected = true
        socket.setTimeout(headersTimeout)
      })
      this.#socket = socket
      socket.setTimeout(connectTimeout)
      socket.once('timeout', () => this.destroy(timeOut(this.#connected)))
      socket.on('error', (error) => this.destroy(error))
      socket.once('end', this.#onClose)
      socket.once('close', () => {
        this.#onClose()
        this.#closed.resolve()
      })
      socket.write(head, 'latin1')
    } catch (error) {
      this.destroy(asError(error))
      this.#closed.resolve()
    }
  }

  readonly #onRead = (bytes: Buffer, length: number): void => {
    if (this.#ended) return
    try {
      this.#parser.push(bytes, length)
    } catch (error) {
      this.destroy(asError(error))
    }
  }

  readonly #onClose = (): void => {
    if (this.#ended) return
    try {
      this.#parser.close()
    } catch (error) {
      this.destroy(asError(error))
    }
  }

  readonly #onAbort = (): void => {
    const { signal } = this.#request
    if (this.#ended || !signal) return
    this.#buffer.clear()
    this.#fail(abortReason(signal))
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#take()
    if (value) return Promise.resolve({ done: false, value })
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    if (this.#waiter) return Promise.reject(new TypeError('a body is pulled by one reader, one chunk at a time'))
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
    })
  }

  #take(): Buffer | undefined {
    const bytes = this.#buffer.take()
    if (this.#paused) {
      this.#paused = false
      this.#socket?.resume()
    }
    return bytes
  }

  readonly #handOut = (): void => {
    this.#handingOut = false
    const waiter = this.#waiter
    const value = waiter && this.#take()
    if (!value) return
    this.#waiter = undefined
    waiter.resolve({ done: false, value })
  }

  #fail(error: Error): void {
    this.#failure = error
    this.#end()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    this.#socket?.destroy()
    // What came before the end goes first.
    this.#handOut()
    const [waiter, failure] = [this.#waiter, this.#failure]
    this.#waiter = undefined
    if (failure) {
      // Does nothing if the answer had begun.
      this.#answer.reject(failure)
      waiter?.reject(failure)
    } else {
      waiter?.resolve({ done: true, value: undefined })
    }
  }
}

function timeOut(connected: boolean): Error {
  return connected
    ? coded('UND_ERR_HEADERS_TIMEOUT', 'the answer did not begin in time')
    : coded('UND_ERR_CONNECT_TIMEOUT', 'the connection did not stand in time')
}
