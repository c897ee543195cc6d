/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>

/** Where a stream's bytes go: one open response. */
export interface StreamSink {
  /** Bytes that were given to `write` and that the reader has not taken yet. */
  readonly buffered: number
  write(bytes: Uint8Array): void
  /** Ends it after what was written. */
  end(): void
  /** Cuts it off, whatever was written. */
  destroy(): void
}

/**
 * Called once, when the headers are out. Returns what is called, once, when the stream is over: because the reader
 * left, because it was cut off, or because the server closes.
 */
export type OpenStream = (sink: StreamSink) => () => void

export type HttpResponseBody =
  | { readonly type: 'json'; readonly value: unknown; readonly indent?: number | undefined }
  | { readonly type: 'text'; readonly text: string; readonly contentType: string }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  | { readonly type: 'stream'; readonly open: OpenStream; readonly contentType: string }

/** What a route answers, as data. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: HttpResponseBody
}

export interface JsonOptions {
  /** Blanks per level. Default: the route's, else none. */
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

/** An answer that goes on until the reader leaves or the server closes. */
export function stream(open: OpenStream, contentType: string, headers: Headers = {}): HttpResponse {
  return { status: 200, headers, body: { type: 'stream', open, contentType } }
}
