import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse, OpenStream, StreamSink } from '../routes/response.ts'

/** Streams that are open, to be ended when the server closes. */
export class OpenStreams {
  readonly #sinks = new Set<StreamSink>()

  get size(): number {
    return this.#sinks.size
  }

  /** Runs a stream on a response whose head is not out yet. `over` is called when it has ended, however. */
  run(
    response: ServerResponse,
    { status, headers, body }: HttpResponse & { body: { type: 'stream' } },
    over: () => void,
  ): void {
    const sink = new ResponseSink(response)
    // The end of the stream is the end of the connection: no frame around each piece, and one write per piece.
    response.useChunkedEncodingByDefault = false
    response.writeHead(status, { ...headers, 'content-type': body.contentType })
    response.flushHeaders()
    this.#attach(sink, response, body.open, over)
  }

  endAll(): void {
    for (const sink of this.#sinks) sink.end()
  }

  #attach(sink: StreamSink, response: ServerResponse, open: OpenStream, over: () => void): void {
    this.#sinks.add(sink)
    const close = open(sink)
    response.once('close', () => {
      this.#sinks.delete(sink)
      close()
      over()
    })
    // A reader that breaks off is no failure of ours; `close` follows.
    response.on('error', () => undefined)
  }
}

class ResponseSink implements StreamSink {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get buffered(): number {
    return this.#response.writableLength
  }

  write(bytes: Uint8Array): void {
    if (!this.#response.writableEnded && !this.#response.destroyed) this.#response.write(bytes)
  }

  end(): void {
    this.#response.end()
  }

  destroy(): void {
    this.#response.destroy()
  }
}

/** The bytes of an answer that is no stream. */
export function encode(
  { body }: HttpResponse,
  indent: number,
): { readonly contentType: string; readonly bytes: Uint8Array | string } {
  switch (body.type) {
    case 'json':
      return {
        contentType: 'application/json; charset=utf-8',
        bytes: JSON.stringify(body.value, null, body.indent ?? indent),
      }
    case 'text':
      return { contentType: body.contentType, bytes: body.text }
    case 'bytes':
      return { contentType: body.contentType, bytes: body.bytes }
    // Of a stream there is only a head to be had here.
    default:
      return { contentType: body.contentType, bytes: '' }
  }
}

/** Whether a body was announced that has not arrived yet. */
export function isSending(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && !request.destroyed && (encoding !== undefined || length !== '0')
}

/**
 * Reads and drops what is left of a body that was refused, up to `limit` bytes, then calls `done`: a connection that is
 * closed while the caller still sends is reset, and takes the answer with it.
 */
export function drain(request: IncomingMessage, limit: number, done: () => void): void {
  let left = limit
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.once('close', done).once('end', done)
  // Who leaves while nobody listens any more is no failure of ours.
  request.on('error', () => undefined)
  request.resume()
}
