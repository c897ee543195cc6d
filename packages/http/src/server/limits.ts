/** What one caller may cost. */
export interface HttpLimits {
  /** Bytes of a body; more is a 413. Default 3 MiB, what the API server takes. */
  readonly bodyBytes: number
  /** How deep JSON may be nested; deeper is a 400. Default 100. */
  readonly jsonDepth: number
  /** Bytes of all headers together; more is a 431. Default 16 KiB. */
  readonly headerBytes: number
  /** Default 100. */
  readonly headers: number
  /** Connections at once; more are closed at once. Default 4,096. */
  readonly connections: number
  /** Milliseconds to send the headers. Default 10,000. */
  readonly headersTimeout: number
  /** Milliseconds to send a whole request. Default 30,000. */
  readonly requestTimeout: number
  /** Milliseconds until a route that has not answered is answered for with a 504. Default 30,000. */
  readonly answerTimeout: number
  /** Milliseconds that a connection may be silent between requests. Default 65,000. */
  readonly keepAliveTimeout: number
  /** Milliseconds in which a caller must take something of an answer. Default 60,000. */
  readonly stallTimeout: number
  /** Bytes of a refused body that are read and dropped, so that the caller gets to read why. Default 64 MiB. */
  readonly drainBytes: number
}

const MEBIBYTE = 1024 * 1024

export const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: 3 * MEBIBYTE,
  jsonDepth: 100,
  headerBytes: 16 * 1024,
  headers: 100,
  connections: 4_096,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  answerTimeout: 30_000,
  keepAliveTimeout: 65_000,
  stallTimeout: 60_000,
  drainBytes: 64 * MEBIBYTE,
}
