import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse, OpenStream, StreamSink } from '../routes/response.ts'

/** The open streams, which end when the server stops. */
export class OpenStreams {
  readonly #sinks = new Set<StreamSink>()

  get size(): number {
    return this.#sinks.size
  }

  /** Starts a stream on a response whose headers are not sent yet. `over` is called at its end. */
  run(
    response: ServerResponse,
    { status, headers, body }: HttpResponse & { body: { type: 'stream' } },
    over: () => void,
  ): void {
    const sink = new ResponseSink(response)
    // The end of the connection marks the end of the stream, so chunked encoding is not needed.
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
    // A disconnected reader is not an error; `close` follows.
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

/** The bytes of a response, empty for a stream. */
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
    // The response to HEAD for a stream.
    default:
      return { contentType: body.contentType, bytes: '' }
  }
}

/** Whether the request has a body that has not arrived completely. */
export function isSending(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && !request.destroyed && (encoding !== undefined || length !== '0')
}
