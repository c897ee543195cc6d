import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@tenure/kube'
import { TenureError, asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { ListenAddress } from './address.ts'
import { formatAddress, parseAddress } from './address.ts'
import { metricsHandler } from './metrics-handler.ts'
import type { Probes } from './probes.ts'
import { SilentConnections } from './silent-connections.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface ServeOptions {
  /** `:8081`, `127.0.0.1:8081`, `[::1]:0`; port 0 takes any free one; `0` serves nothing. */
  readonly address: string
  readonly clock: Clock
  /** What is served, for messages. */
  readonly what: string
  /** Which setting moves it, for messages: `--health-probe-bind-address`. */
  readonly setting?: string
}

export interface Served {
  /** Where it really listens. */
  readonly host: string
  readonly port: number
  /** `host:port`. */
  readonly address: string
  /** Takes no more requests, lets those under way finish for `grace` (default 2,000) milliseconds, then cuts them off. */
  close(grace?: number): Promise<void>
}

/** Serves probes; undefined if the address is `0`. */
export function serveProbes(probes: Probes, options: Omit<ServeOptions, 'what'>): Promise<Served | undefined> {
  return serve(probes.handler, { what: 'probes', ...options })
}

/** Serves `/metrics`; undefined if the address is `0`. */
export function serveMetrics(
  metrics: Metrics,
  options: Omit<ServeOptions, 'what'> & { readonly log?: Logger },
): Promise<Served | undefined> {
  return serve(metricsHandler(metrics, options.log), { what: 'metrics', ...options })
}

/** A small HTTP server with tight limits, for what machines poll. */
export async function serve(handler: Handler, options: ServeOptions): Promise<Served | undefined> {
  const wanted = parseAddress(options.address)
  if (!wanted) return undefined
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
  server.maxConnections = 256
  server.maxRequestsPerSocket = 1_000
  // An answer that is not read does not hold its connection for ever.
  server.setTimeout(60_000)
  const silent = new SilentConnections(server)
  await listen(server, wanted, options)
  const { address: host, port } = server.address() as AddressInfo
  return {
    host,
    port,
    address: formatAddress({ host, port }),
    close: (grace) => close(server, silent, options.clock, grace),
  }
}

function listen(server: Server, wanted: ListenAddress, options: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(cannotListen(error, wanted, options))
    server.once('error', onError)
    server.listen({ port: wanted.port, ...(wanted.host && { host: wanted.host }) }, () => {
      server.off('error', onError)
      resolve()
    })
  })
}

function close(server: Server, silent: SilentConnections, clock: Clock, grace = 2_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(grace, () => server.closeAllConnections())
    server.close((error) => {
      timer.cancel()
      // Closing twice is no failure.
      if (error && (error as NodeJS.ErrnoException).code !== 'ERR_SERVER_NOT_RUNNING') reject(asError(error))
      else resolve()
    })
    server.closeIdleConnections()
    silent.closeAll()
  })
}

/** Says in one sentence why a server can not listen, and what to do about it. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  wanted: ListenAddress,
  options: Pick<ServeOptions, 'what' | 'setting'> & {
    /** Who has the port, if that can be told. Default `another program`. */
    readonly takenBy?: string
  },
): TenureError {
  const { what, setting, takenBy = 'another program' } = options
  const elsewhere = setting ? `choose another with ${setting}` : 'choose another'
  const where = formatAddress(wanted)
  switch (error.code) {
    case 'EADDRINUSE':
      return new TenureError(
        'TENURE_PORT_TAKEN',
        `Port ${wanted.port} for ${what} (${where}) is taken by ${takenBy}; stop that, or ${elsewhere}.`,
        { cause: error },
      )
    case 'EACCES':
      return new TenureError(
        'TENURE_PORT_FORBIDDEN',
        `Port ${wanted.port} for ${what} may not be opened by this user; take one above 1023: ${elsewhere}.`,
        { cause: error },
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new TenureError(
        'TENURE_ADDRESS_UNAVAILABLE',
        `${where} for ${what} is no address of this machine; ${elsewhere}.`,
        { cause: error },
      )
    default:
      return new TenureError('TENURE_LISTEN_FAILED', `Could not listen on ${where} for ${what}: ${error.message}.`, {
        cause: error,
      })
  }
}
