/** Limits for callers. */
export interface HttpLimits {
  /** Maximum body size in bytes; more is a 413. Default 3 MiB, the limit of the API server. */
  readonly bodyBytes: number
  /** Maximum nesting depth of JSON; more is a 400. Default 100. */
  readonly jsonDepth: number
  /** Maximum size of all headers in bytes; more is a 431. Default 16 KiB. */
  readonly headerBytes: number
  /** Maximum number of headers. Default 100. */
  readonly headers: number
  /** Maximum bytes of all bodies in memory; more is a 503. Default 128 MiB. */
  readonly bufferedBytes: number
  /** Maximum number of connections; a new one replaces the longest idle one. Default 4,096. */
  readonly connections: number
  /**
   * How many connections authenticated callers and streams leave to new callers and probes; beyond that they get a 503.
   * Default 512.
   */
  readonly reservedConnections: number
  /** Milliseconds for a caller to send the headers. Default 10,000. */
  readonly headersTimeout: number
  /** Milliseconds for a caller to send the whole request. Default 30,000. */
  readonly requestTimeout: number
  /** Milliseconds after which a route without a response gets a 504. Default 30,000. */
  readonly responseTimeout: number
  /** Milliseconds that a connection may be idle between requests. Default 65,000. */
  readonly keepAliveTimeout: number
  /** Milliseconds within which a caller must read some of a response. Default 60,000. */
  readonly stallTimeout: number
  /**
   * Requests per second of one caller, after a burst of twice as many; more get a 429. A caller is a user, or an address if
   * callers need no token. Public routes do not count. 0: no limit. Default: 500 if callers need tokens, otherwise no limit.
   */
  readonly requestsPerSecond?: number
  /** Bytes of a rejected body that are read and dropped, so that the caller can read the response. Default 64 MiB. */
  readonly drainBytes: number
}

const MEBIBYTE = 1024 * 1024

/** The rate limit of callers with tokens. */
export const DEFAULT_REQUESTS_PER_SECOND = 500

export const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: 3 * MEBIBYTE,
  jsonDepth: 100,
  headerBytes: 16 * 1024,
  headers: 100,
  bufferedBytes: 128 * MEBIBYTE,
  connections: 4_096,
  reservedConnections: 512,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  responseTimeout: 30_000,
  keepAliveTimeout: 65_000,
  stallTimeout: 60_000,
  drainBytes: 64 * MEBIBYTE,
}
