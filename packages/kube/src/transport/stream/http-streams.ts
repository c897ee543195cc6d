import { HttpStream, type StreamOptions } from './http-stream.ts'
import { closedError, type StreamRequest } from './stream-request.ts'
import type { TransportResponse } from '../transport.ts'

/** The open streams with one set of certificates. */
export class HttpStreams {
  readonly #options: StreamOptions
  readonly #streams = new Set<HttpStream>()
  #closed = false

  constructor(options: StreamOptions) {
    this.#options = options
  }

  open(request: StreamRequest, explain: (error: Error) => Error): Promise<TransportResponse> {
    if (this.#closed) return Promise.reject(explain(closedError()))
    const stream = new HttpStream(request, this.#options, explain)
    this.#streams.add(stream)
    void stream.closed.then(() => this.#streams.delete(stream))
    return stream.open()
  }

  /** Accepts no new streams, and resolves when the open ones have ended. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#streams].map((stream) => stream.closed))
  }

  async destroy(): Promise<void> {
    const closed = this.close()
    for (const stream of this.#streams) stream.destroy(closedError())
    await closed
  }
}
