/** Limits for clients of the HTTPS server. */
export interface HttpsLimits {
  /** Maximum number of connections; a new one replaces the longest idle one. Default 4,096. */
  readonly connections: number
  /** How many connections authenticated clients leave to new clients and probes. Default 512. */
  readonly reservedConnections: number
  /** Maximum bytes of all bodies in memory; more is a 429. Default 256 MiB. */
  readonly bufferedBytes: number
  /** Maximum bytes of the bodies of one connection in memory; more is a 429. Default 32 MiB. */
  readonly connectionBufferedBytes: number
  /** Bytes of a refused body that are read and dropped, so that the client can read the response. Default 64 MiB. */
  readonly discardedBytes: number
  /** Maximum size of all headers of a request in bytes. Default 64 KiB. */
  readonly headerBytes: number
  /** Maximum number of concurrent HTTP/2 streams per connection. Default 1,000. */
  readonly streams: number
  /** Milliseconds for the TLS handshake. Default 10,000. */
  readonly handshakeTimeout: number
  /** Milliseconds for a new connection to send its first request. Default 10,000. */
  readonly headersTimeout: number
  /** Milliseconds for a client to send a whole request. Default 60,000. */
  readonly bodyTimeout: number
  /** Milliseconds that a connection may be idle between requests. Default 90,000, as in kube-apiserver. */
  readonly idleTimeout: number
  /** Milliseconds within which a client must read some of a response. Default 60,000. */
  readonly stallTimeout: number
}

const MEBIBYTE = 1024 * 1024

export const DEFAULT_HTTPS_LIMITS: HttpsLimits = {
  connections: 4_096,
  reservedConnections: 512,
  bufferedBytes: 256 * MEBIBYTE,
  connectionBufferedBytes: 32 * MEBIBYTE,
  discardedBytes: 64 * MEBIBYTE,
  headerBytes: 64 * 1024,
  streams: 1_000,
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  bodyTimeout: 60_000,
  idleTimeout: 90_000,
  stallTimeout: 60_000,
}
