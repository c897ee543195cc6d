import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Clock } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { formatAddress, parseAddress } from './address.ts'
import { listen } from './listen.ts'
import { metricsHandler } from './metrics-handler.ts'
import type { Probes } from './probes.ts'
import { ServerConnections } from '../serving/index.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface ServeOptions {
  /** `:8081`, `127.0.0.1:8081`, `[::1]:0`; port 0 picks any free port; `0` disables the server. */
  readonly address: string
  readonly clock: Clock
  /** Names the server in error messages. */
  readonly what: string
  /** The setting that changes the address, for error messages: `--health-probe-bind-address`. */
  readonly setting?: string | undefined
}

export interface Served {
  /** The bound host. */
  readonly host: string
  readonly port: number
  /** `host:port`. */
  readonly address: string
  /**
   * Stops accepting requests, waits `grace` milliseconds (default 2,000) for those in flight, then closes all
   * connections.
   */
  close(grace?: number): Promise<void>
}

/** Serves probes. Undefined if the address is `0`. */
export function serveProbes(probes: Probes, options: Omit<ServeOptions, 'what'>): Promise<Served | undefined> {
  return serve(probes.handler, { what: 'probes', ...options })
}

/** Serves `/metrics`. Undefined if the address is `0`. */
export function serveMetrics(
  metrics: Metrics,
  options: Omit<ServeOptions, 'what'> & { readonly log?: Logger },
): Promise<Served | undefined> {
  return serve(metricsHandler(metrics, options.log), { what: 'metrics', ...options })
}

/** A small HTTP server with tight limits for probes and scrapes. */
export async function serve(handler: Handler, options: ServeOptions): Promise<Served | undefined> {
  const requested = parseAddress(options.address)
  if (!requested) return undefined
  const { createServer } = await import('node:http')
  const server = createServer(
    {
      maxHeaderSize: 8_192,
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
    },
    handler,
  )
  server.maxHeadersCount = 50
  server.maxRequestsPerSocket = 1_000
  // A client that does not read its response must not hold the connection forever.
  server.setTimeout(60_000)
  const connections = new ServerConnections(server, { max: 256 })
  connections.followRequests(server)
  const { address: host, port } = await listen(server, requested, options)
  return {
    host,
    port,
    address: formatAddress({ host, port }),
    close: (grace) => close(server, connections, options.clock, grace),
  }
}

function close(server: Server, connections: ServerConnections, clock: Clock, grace = 2_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(grace, () => server.closeAllConnections())
    server.close((error) => {
      timer.cancel()
      // Closing twice is not an error.
      if (error && (error as NodeJS.ErrnoException).code !== 'ERR_SERVER_NOT_RUNNING') reject(asError(error))
      else resolve()
    })
    connections.closeIdle()
  })
}
