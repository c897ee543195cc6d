import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@tenure/kube'
import type { Component, Logger, ManagerContext, OperatorServer, RunningOperator } from '@tenure/runtime'
import { formatAddress, listen, type ListenAddress, parseAddress } from '@tenure/runtime/health'
import { ByteBudget, ServerConnections } from '@tenure/runtime/serving'
import { App } from './app.ts'
import { respondToClientError, respondToConnect } from './client-error.ts'
import type { HttpLimits } from './limits.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { isLoopback } from './loopback.ts'
import type { OpenApiInfo } from '../routes/openapi.ts'
import '../operator.ts'
import type { HttpError } from '../errors/http-error.ts'
import type { HttpResponse } from '../routes/response.ts'
import type { OwnServer } from '../operator.ts'
import { type RootPage, withRootPage } from '../routes/root-page.ts'
import type { Route } from '../routes/route.ts'
import type { ServingCertificate, TlsOptions } from './tls.ts'
import { openTls } from './tls.ts'
import type { View } from '../views/view.ts'
import { viewRoutes } from '../views/view-routes.ts'
import { type AccessControl, allowAll, TokenAccessControl } from '../auth/token-access-control.ts'

const DEFAULT_INFO: OpenApiInfo = { title: 'Tenure', version: '0.1.0' }

/** The address of a server. */
export interface Listening {
  /** The URL on this machine: `http://127.0.0.1:3000`. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** The configured port, if it was in use and another was chosen. */
  readonly instead: number | undefined
}

export interface HttpServerOptions {
  /** `:3000`, `127.0.0.1:3000`, `[::1]:0`. Port 0 chooses a free port; the address `0` disables the server. */
  readonly address: string
  readonly routes: readonly Route[]
  /** The name in messages and logs. Default `http`. */
  readonly name?: string
  /** The setting for the port, for messages: `PORT`. Default none. */
  readonly setting?: string
  /** The setting for the host, for messages: `LISTEN_HOST`. Default: `setting`. */
  readonly hostSetting?: string
  /** For a port in use: fail, or use the next free one. Default `fail`. */
  readonly whenTaken?: 'fail' | 'next'
  /** For `/openapi.json`. Default `Tenure`, `0.1.0`. */
  readonly info?: OpenApiInfo
  /**
   * `token`: callers need a bearer token, and RBAC decides what they may do. `none`: every caller is allowed. Default:
   * `none` on a loopback address, otherwise `token`.
   */
  readonly authentication?: 'token' | 'none'
  /** Decides who the callers are and what they may do. Default: by tokens of the API server, or nothing. */
  readonly accessControl?: AccessControl
  /** Further host names that a loopback server without authentication accepts. Default: only loopback names. */
  readonly hosts?: readonly string[]
  /** Default: plain HTTP. */
  readonly tls?: TlsOptions
  /** Shapes failures of paths without a route. Default: `{"error"}`. */
  readonly shapeFailure?: (failure: HttpError) => HttpResponse
  /** Default: see HttpLimits. */
  readonly limits?: Partial<HttpLimits>
  /** Called once, with the address. */
  readonly onListening?: (listening: Listening) => void
}

export interface SharedServerOptions extends Omit<HttpServerOptions, 'routes'> {
  /** Answers browsers at `/`. Default: they get the JSON that programs get. */
  readonly page?: RootPage
  /** Further routes, such as those of the dashboard. Default: none. */
  readonly extend?: (operators: readonly RunningOperator[], context: ManagerContext) => SharedRoutes
}

/** Routes and views besides those of operators. */
export interface SharedRoutes {
  readonly routes?: readonly Route[]
  readonly views?: readonly View[]
}

/**
 * Serves the routes of all operators of a process, on every replica, before the caches are filled, with lists of their views
 * and one stream of changes.
 */
export function httpServer({ extend, page, ...options }: SharedServerOptions): OperatorServer {
  return {
    create(operators, context) {
      const { clock, metrics, random } = context
      const more = extend?.(operators, context)
      const views = viewRoutes({
        views: [...operators.flatMap(({ parts }) => parts.views ?? []), ...(more?.views ?? [])],
        operators: operators.map(({ operator }) => operator.name),
        version: options.info?.version ?? DEFAULT_INFO.version,
        authentication: authenticationOf(options),
        clock,
        random,
        metrics,
      })
      const own = [...operators.flatMap(({ parts }) => parts.routes ?? []), ...(more?.routes ?? []), ...views.routes]
      const routes = withRootPage(own, page, (options.info ?? DEFAULT_INFO).title)
      const server = new HttpServer({ ...options, routes }, context)
      return {
        name: server.name,
        start: () => server.start(),
        stop: async (grace) => {
          views.stop()
          await server.stop(grace)
        },
      }
    },
  }
}

/** Whether callers need tokens: by the settings, otherwise unless only this machine can reach the server. */
function authenticationOf({ address, authentication }: Pick<HttpServerOptions, 'address' | 'authentication'>) {
  return authentication ?? (isLoopback(parseAddress(address)?.host) ? 'none' : 'token')
}

export interface OwnServersOptions {
  /** The port of the server with the routes of all operators: a server of one operator is not started there. */
  readonly sharedPort?: number | undefined
  /** Default: fail. */
  readonly whenTaken?: (server: OwnServer) => 'fail' | 'next'
  /** Called once per server, with its address. */
  readonly onListening?: (server: OwnServer, listening: Listening) => void
}

/** Serves the `servers` of all operators of a process: those with the routes of one operator alone. */
export function ownServers({ sharedPort, whenTaken, onListening }: OwnServersOptions = {}): OperatorServer {
  const isShared = ({ address }: OwnServer): boolean => {
    const port = parseAddress(address)?.port
    return port !== undefined && port !== 0 && port === sharedPort
  }
  return {
    create(operators, context) {
      const servers = operators
        .flatMap(({ parts }) => parts.servers ?? [])
        .filter((server) => !isShared(server))
        .map((server) => {
          const taken = { whenTaken: whenTaken?.(server) ?? 'fail' }
          return new HttpServer(
            { ...server, ...taken, onListening: (listening) => onListening?.(server, listening) },
            context,
          )
        })
      return {
        name: 'servers of operators',
        start: async () => {
          for (const server of servers) await server.start()
        },
        stop: async (grace) => {
          await Promise.all(servers.map((server) => server.stop(grace)))
        },
      }
    },
  }
}

export class HttpServer implements Component {
  readonly name: string
  readonly #options: HttpServerOptions
  readonly #context: ManagerContext
  readonly #limits: HttpLimits
  readonly #wanted: ListenAddress | undefined
  #app: App | undefined
  #server: Server | undefined
  #connections: ServerConnections | undefined
  #tls: ServingCertificate | undefined

  constructor(options: HttpServerOptions, context: ManagerContext) {
    this.name = options.name ?? 'http'
    this.#options = options
    this.#context = context
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#wanted = parseAddress(options.address)
  }

  async start(): Promise<void> {
    const wanted = this.#wanted
    if (!wanted) return
    const { tls, whenTaken = 'fail', setting, hostSetting, onListening } = this.#options
    const { clock, log } = this.#context
    if (tls) this.#tls = await openTls(tls, clock, log)
    const { createServer: createTlsServer } = tls ? await import('node:https') : {}
    const app = this.#makeApp(wanted, (handler) => {
      const limits = serverLimits(this.#limits)
      const pair = this.#tls?.pair
      if (!createTlsServer || !pair) return createHttpServer(limits, handler)
      const secure = { cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2' as const, handshakeTimeout: 10_000 }
      return createTlsServer({ ...limits, ...secure }, handler)
    })
    this.#app = app
    await app.ready()
    const server = app.fastify.server
    this.#server = server
    const { connections: max, reservedConnections: reserve } = this.#limits
    this.#connections = new ServerConnections(server, { max, reserve })
    this.#connections.followRequests(server)
    this.#settle(server, log)
    const address = await listen(server, wanted, { what: this.name, setting, hostSetting, whenTaken })
    server.on('error', (error) => log.error('HTTP server failed', { what: this.name, error }))
    const listening = this.#listening(wanted, address)
    log.info('serving', { what: this.name, address: formatAddress(listening), url: listening.url })
    onListening?.(listening)
  }

  async stop(grace: number): Promise<void> {
    this.#tls?.close()
    this.#app?.beginClosing()
    const server = this.#server
    if (server?.listening) await closeServer(server, this.#connections, this.#context.clock, grace)
    await this.#app?.fastify.close()
  }

  #makeApp(wanted: ListenAddress, makeServer: (handler: RequestListener) => Server): App {
    const { api, clock, log, metrics } = this.#context
    const { accessControl, info = DEFAULT_INFO, hosts = [] } = this.#options
    const hasTokens = accessControl !== undefined || authenticationOf(this.#options) === 'token'
    // With authentication, or on a public address, any host name is accepted.
    const isGuarded = !hasTokens && isLoopback(wanted.host)
    return new App({
      routes: this.#options.routes,
      info,
      accessControl: accessControl ?? (hasTokens ? new TokenAccessControl({ api, clock }) : allowAll),
      hasTokens,
      // A browser always sends a host name, so an empty one is safe.
      hosts: isGuarded ? new Set(['', 'localhost', '127.0.0.1', '[::1]', wanted.host ?? '', ...hosts]) : undefined,
      limits: this.#limits,
      shapeFailure: this.#options.shapeFailure,
      clock,
      log,
      metrics,
      buffered: new ByteBudget(this.#limits.bufferedBytes),
      keepConnection: (socket) => this.#connections?.keep(socket) ?? true,
      makeServer,
    })
  }

  #settle(server: Server, log: Logger): void {
    const { headers, stallTimeout } = this.#limits
    server.maxHeadersCount = headers
    server.setTimeout(stallTimeout)
    server.removeAllListeners('clientError')
    server.on('clientError', respondToClientError)
    server.on('connect', respondToConnect)
    this.#tls?.watch(({ certificate, key }) => {
      if (!('setSecureContext' in server)) return
      const secure = server as Server & { setSecureContext(options: object): void }
      secure.setSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' })
      log.info('serving certificate replaced', { what: this.name })
    })
  }

  #listening(wanted: ListenAddress, { address, port, family }: AddressInfo): Listening {
    const isAny = address === '::' || address === '0.0.0.0'
    const host = isAny ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
    return {
      url: `${this.#tls ? 'https' : 'http'}://${host}:${port}`,
      host: address,
      port,
      instead: wanted.port !== 0 && wanted.port !== port ? wanted.port : undefined,
    }
  }
}

function serverLimits(limits: HttpLimits): object {
  const { headerBytes, headersTimeout, requestTimeout, keepAliveTimeout } = limits
  return {
    maxHeaderSize: headerBytes,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    connectionsCheckingInterval: Math.min(headersTimeout, requestTimeout, 2_000),
  }
}

/** Accepts no new connections, waits `grace` milliseconds for pending requests, then closes all connections. */
async function closeServer(
  server: Server,
  connections: ServerConnections | undefined,
  clock: Clock,
  grace: number,
): Promise<void> {
  const timer = clock.setTimer(grace, () => server.closeAllConnections())
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    connections?.closeIdle()
  })
  timer.cancel()
}
