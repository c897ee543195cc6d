import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@tenure/kube'
import type { Logger, Metrics } from '@tenure/runtime'
import type { ByteBudget } from '@tenure/runtime/serving'
import { discardBody, HeldBytes, readBody } from '@tenure/runtime/serving'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import type { HttpResponse } from '../routes/response.ts'
import { Exchange } from './exchange.ts'
import { errorResponse, toHttpError } from '../errors/failure.ts'
import { HttpError, notFound, unavailable } from '../errors/http-error.ts'
import type { HttpMetrics } from './http-metrics.ts'
import { httpMetrics } from './http-metrics.ts'
import { parseJson } from '../body/json-body.ts'
import { DEFAULT_REQUESTS_PER_SECOND, type HttpLimits } from './limits.ts'
import type { OpenApiInfo } from '../routes/openapi.ts'
import { describeRoutes, openApiRoute, schemaOf } from '../routes/openapi.ts'
import { type KnownPath, PathTable } from '../routes/path-table.ts'
import { bodyError } from '../body/body-error.ts'
import type { Method, Route } from '../routes/route.ts'
import { encode, isSending, OpenStreams } from './send.ts'
import { recordWrite } from './audit.ts'
import { RequestRate } from '../auth/request-rate.ts'
import { checkWhileOpen } from '../auth/stream-access.ts'
import type { AccessControl } from '../auth/token-access-control.ts'

export interface AppOptions {
  readonly routes: readonly Route[]
  readonly info: OpenApiInfo
  readonly accessControl: AccessControl
  /** Whether callers need tokens. */
  readonly hasTokens: boolean
  /** The accepted host names; undefined: all. */
  readonly hosts: ReadonlySet<string> | undefined
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Shapes failures of paths without a route; undefined: `{"error"}`. */
  readonly shapeFailure: ((failure: HttpError) => HttpResponse) | undefined
  /** Bounds the bodies in memory. */
  readonly buffered: ByteBudget
  /** Keeps a connection that another one would replace. False if no more may be kept. */
  readonly keepConnection: (socket: Socket) => boolean
  /** Creates the server; `handler` receives its requests. */
  readonly makeServer: (handler: RequestListener) => Server
}

const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
const NO_ROUTE = '(none)'
const WRITING_METHODS = new Set<Method>(['POST', 'PUT', 'PATCH', 'DELETE'])

/** The routes of a server. Fastify provides routing, hooks and the OpenAPI document. */
export class App {
  readonly fastify: FastifyInstance
  readonly streams = new OpenStreams()
  readonly #options: AppOptions
  readonly #metrics: HttpMetrics
  readonly #exchanges = new WeakMap<FastifyRequest, Exchange>()
  /** Routes that shape the failures of requests with another method. */
  readonly #shaped = new WeakMap<FastifyRequest, Route>()
  /** Requests that wait for "100 Continue" before they send the body. */
  readonly #waiting = new WeakMap<IncomingMessage, ServerResponse>()
  readonly #streaming = new WeakSet<ServerResponse>()
  readonly #paths: PathTable
  readonly #routes: readonly Route[]
  readonly #rate: RequestRate
  #isClosing = false

  constructor(options: AppOptions) {
    this.#options = options
    this.#metrics = httpMetrics(options.metrics)
    this.#routes = [...options.routes, openApiRoute(() => this.fastify.swagger())]
    this.#paths = new PathTable(this.#routes)
    const { requestsPerSecond = options.hasTokens ? DEFAULT_REQUESTS_PER_SECOND : 0 } = options.limits
    this.#rate = new RequestRate({ clock: options.clock, perSecond: requestsPerSecond })
    this.fastify = fastify({
      logger: false,
      exposeHeadRoutes: true,
      serverFactory: (handler) => this.#makeServer(handler),
      bodyLimit: Number.MAX_SAFE_INTEGER,
      routerOptions: { maxParamLength: 1_024 },
      frameworkErrors: (error, _request, reply) => {
        this.#watch(reply, NO_ROUTE)
        this.#sendFailure(reply, toHttpError(error), undefined)
      },
    })
  }

  /** Registers hooks, parsers and routes. */
  async ready(): Promise<void> {
    const { fastify: app } = this
    await describeRoutes(app, this.#options.info, this.#options.hasTokens)
    // Exchange validates requests, so that errors name the field. Responses are not validated.
    app.setValidatorCompiler(() => () => true)
    app.setSerializerCompiler(() => (data) => JSON.stringify(data))
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i, (request: FastifyRequest) =>
      this.#parse(request),
    )
    app.addContentTypeParser('*', (request: FastifyRequest) => this.#parseOther(request))
    // Only its hooks run.
    app.setNotFoundHandler(() => undefined)
    app.setErrorHandler((error, request, reply) => {
      this.#sendFailure(reply, toHttpError(error), this.#exchanges.get(request)?.route ?? this.#shaped.get(request))
    })
    // With a callback: a promise for each request costs as much as the check.
    app.addHook('onRequest', (request, reply, done) => done(this.#wrongTarget(request, reply)))
    for (const route of this.#routes) this.#register(route)
    await app.ready()
  }

  /** Closes each connection after its next response. */
  beginClosing(): void {
    this.#isClosing = true
    this.streams.endAll()
  }

  #makeServer(handler: RequestListener): Server {
    const server = this.#options.makeServer(handler)
    // Node would always continue; this way a rejected body is not sent.
    server.on('checkContinue', (request, response) => {
      this.#waiting.set(request, response)
      handler(request, response)
    })
    return server
  }

  #register(route: Route): void {
    this.fastify.route({
      method: route.method,
      url: route.path,
      schema: schemaOf(route),
      onRequest: async (request, reply) => {
        this.#watch(reply, route.path)
        const exchange = this.#begin(route, request, reply)
        if (route.isWrite ?? WRITING_METHODS.has(route.method)) exchange.onClose(() => this.#audit(exchange))
        const response = await exchange.open()
        if (exchange.user) this.#keepConnection(request)
        if (response) this.#send(reply, response, route)
      },
      handler: async (request, reply) => {
        const exchange = this.#exchanges.get(request)
        if (exchange) this.#send(reply, await exchange.handle(request.body), route)
        return reply
      },
    })
  }

  #begin(route: Route, request: FastifyRequest, reply: FastifyReply): Exchange {
    const { clock, log, accessControl, limits } = this.#options
    const exchange = new Exchange({
      id: request.id,
      route,
      raw: request.raw,
      response: reply.raw,
      params: { ...(request.params as object) },
      query: request.query,
      clock,
      log,
      accessControl,
      rate: this.#rate,
      responseTimeout: route.timeout ?? limits.responseTimeout,
    })
    this.#exchanges.set(request, exchange)
    // A call that waits for its response is not a connection that stalls. The server's own time-out applies again to the
    // next request.
    if (route.timeout !== undefined && route.timeout > limits.stallTimeout) {
      request.raw.socket.setTimeout(route.timeout + limits.stallTimeout)
    }
    return exchange
  }

  async #parse(request: FastifyRequest): Promise<unknown> {
    const route = this.#exchanges.get(request)?.route
    const bytes = await this.#read(request)
    if (!bytes || route?.rawBody) return bytes
    return parseJson(bytes, route?.maxDepth ?? this.#options.limits.jsonDepth)
  }

  /** A body that is not called JSON. */
  async #parseOther(request: FastifyRequest): Promise<unknown> {
    if (this.#exchanges.get(request)?.route.rawBody) return this.#read(request)
    throw new HttpError('TENURE_HTTP_MEDIA_TYPE', 415, 'Send JSON, with the header Content-Type: application/json')
  }

  /** The bytes of a body; undefined if there are none. */
  async #read(request: FastifyRequest): Promise<Uint8Array | undefined> {
    const { limits, clock, buffered } = this.#options
    const exchange = this.#exchanges.get(request)
    const { route } = exchange ?? {}
    this.#waiting.get(request.raw)?.writeContinue()
    this.#waiting.delete(request.raw)
    const held = new HeldBytes(buffered)
    exchange?.onClose(() => held.release())
    const maxBytes = route?.bodyLimit ?? limits.bodyBytes
    const bytes = await readBody(request.raw, { maxBytes, held, timeout: limits.requestTimeout, clock })
    if (typeof bytes === 'string') throw bodyError(bytes, maxBytes)
    return bytes.length === 0 ? undefined : bytes
  }

  /** Throws a 503 if connections of authenticated callers and streams would leave too few for others. */
  #keepConnection({ raw }: FastifyRequest): void {
    if (!this.#options.keepConnection(raw.socket)) throw unavailable('The server has too many connections; try again')
  }

  /** Checks host and path before anything else is read. */
  #wrongTarget(request: FastifyRequest, reply: FastifyReply): HttpError | undefined {
    const path = request.is404 ? this.#paths.find(request.url) : undefined
    const failure =
      this.#wrongHost(request) ?? this.#wrongOrigin(request) ?? (request.is404 ? wrongPath(path) : undefined)
    if (!failure) return undefined
    this.#watch(reply, NO_ROUTE)
    if (path) this.#shaped.set(request, path.route)
    return failure
  }

  /** Prevents DNS rebinding: a web page must not reach a server without authentication under its own name. */
  #wrongHost({ hostname }: FastifyRequest): HttpError | undefined {
    const { hosts } = this.#options
    if (!hosts || hosts.has(hostname.toLowerCase())) return undefined
    return new HttpError('TENURE_HTTP_HOST', 403, `This server is not called "${hostname}"`)
  }

  /** Prevents cross-site requests: a web page of another origin must not change anything without credentials. */
  #wrongOrigin({ method, headers }: FastifyRequest): HttpError | undefined {
    const { origin, host } = headers
    if (this.#options.hasTokens || origin === undefined || method === 'GET' || method === 'HEAD') return undefined
    if (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) return undefined
    return new HttpError('TENURE_HTTP_ORIGIN', 403, 'Requests of other web sites are refused')
  }

  /** A stream may outlive the account of its caller. Undefined if the caller needs no access. */
  #checkStream(request: FastifyRequest, response: ServerResponse): (() => void) | undefined {
    const { clock, log, hasTokens } = this.#options
    const exchange = this.#exchanges.get(request)
    if (!hasTokens || !exchange?.isGuarded) return undefined
    const facts = { requestId: request.id, route: exchange.route.path }
    const end = (): void => void response.destroy()
    return checkWhileOpen({ clock, log: log.child(facts), check: () => exchange.checkAgain(), end })
  }

  /** Counts, times and logs a request at its end. */
  #watch(reply: FastifyReply, route: string): void {
    const { clock, log } = this.#options
    const { raw, request } = reply
    const started = clock.monotonic()
    this.#metrics.inFlight.inc()
    raw.once('close', () => {
      this.#metrics.inFlight.dec()
      const seconds = (clock.monotonic() - started) / 1_000
      const took = this.#streaming.has(raw) ? undefined : seconds
      this.#metrics.completed(request.method, route, raw.statusCode, took)
      log.debug('request completed', {
        requestId: request.id,
        method: request.method,
        route,
        status: raw.statusCode,
        seconds,
      })
    })
  }

  /** Callers without an accepted token changed nothing; `http_requests_total` counts them. */
  #audit(exchange: Exchange): void {
    const { hasTokens, log } = this.#options
    if (hasTokens && !exchange.user) return
    recordWrite(log, exchange.audited)
  }

  #sendFailure(reply: FastifyReply, failure: HttpError, route: Route | undefined): void {
    const { log } = this.#options
    if (reply.raw.destroyed) return
    const facts = { requestId: reply.request.id, method: reply.request.method, route: route?.path, error: failure }
    if (failure.code === 'TENURE_HTTP_INTERNAL') log.error('request failed', facts)
    else if (failure.status >= 500) log.warn('request not served', facts)
    const shaped = route ? route.shapeFailure(failure) : this.#options.shapeFailure?.(failure)
    this.#send(reply, shaped ?? errorResponse(failure), route)
  }

  #send(reply: FastifyReply, response: HttpResponse, route: Route | undefined): void {
    const { raw, request } = reply
    // A body that arrives without "100 Continue" could be read as the next request.
    const isLast = this.#isClosing || this.#waiting.has(request.raw)
    const headers = { ...COMMON_HEADERS, ...response.headers, ...(isLast && { connection: 'close' }) }
    if (response.body.type === 'stream' && request.method !== 'HEAD') {
      this.#keepConnection(request)
      reply.hijack()
      this.#streaming.add(raw)
      this.#metrics.streams.inc()
      const stopChecks = this.#checkStream(request, raw)
      this.streams.run(raw, { ...response, headers, body: response.body }, () => {
        stopChecks?.()
        this.#metrics.streams.dec()
      })
      if (this.#isClosing) raw.end()
      return
    }
    const isFailure = response.status >= 400
    const { contentType, bytes } = encode(response, isFailure ? 0 : (route?.indent ?? 0))
    // Written without fastify's hooks and serializer, which change nothing.
    reply.hijack()
    const hasBody = response.status !== 204 && response.status !== 304
    const described = hasBody && { 'content-type': contentType, 'content-length': Buffer.byteLength(bytes) }
    raw.writeHead(response.status, { ...headers, ...described })
    const body = hasBody && request.method !== 'HEAD' ? bytes : undefined
    if (!isSending(request.raw) || this.#waiting.has(request.raw)) {
      raw.end(body)
      return
    }
    // The response is sent at once; its end waits for the end of the request body.
    if (body !== undefined) raw.write(body)
    discardBody(request.raw, this.#options.limits.drainBytes, () => raw.end())
  }
}

/** The path does not exist, or not with this method. */
function wrongPath(path: KnownPath | undefined): HttpError {
  if (!path) return notFound()
  return new HttpError('TENURE_HTTP_METHOD', 405, 'Method Not Allowed', { headers: { allow: path.allow } })
}
