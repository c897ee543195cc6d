/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>

/** An open response that a stream writes to. */
export interface StreamSink {
  /** Bytes that were written and not sent yet. */
  readonly buffered: number
  write(bytes: Uint8Array): void
  /** Ends the response after the written bytes. */
  end(): void
  /** Closes the connection and drops unsent bytes. */
  destroy(): void
}

/**
 * Called once, after the headers are sent. The returned function is called once, when the stream ends: the reader left,
 * the stream was closed, or the server stops.
 */
export type OpenStream = (sink: StreamSink) => () => void

export type HttpResponseBody =
  | { readonly type: 'json'; readonly value: unknown; readonly indent?: number | undefined }
  | { readonly type: 'text'; readonly text: string; readonly contentType: string }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  | { readonly type: 'stream'; readonly open: OpenStream; readonly contentType: string }

/** The response of a route, as data. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: HttpResponseBody
}

export interface JsonOptions {
  /** Spaces per level. Default: that of the route, else none. */
  readonly indent?: number
  readonly headers?: Headers
}

export function json(status: number, value: unknown, { indent, headers = {} }: JsonOptions = {}): HttpResponse {
  return { status, headers, body: { type: 'json', value, indent } }
}

/** `contentType` default `text/plain; charset=utf-8`. */
export function text(status: number, text: string, contentType = 'text/plain; charset=utf-8'): HttpResponse {
  return { status, headers: {}, body: { type: 'text', text, contentType } }
}

export function bytes(status: number, bytes: Uint8Array, contentType: string): HttpResponse {
  return { status, headers: {}, body: { type: 'bytes', bytes, contentType } }
}

/** A response that continues until the reader leaves or the server stops. */
export function stream(open: OpenStream, contentType: string, headers: Headers = {}): HttpResponse {
  return { status: 200, headers, body: { type: 'stream', open, contentType } }
}
