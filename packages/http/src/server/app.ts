import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Clock } from '@tenure/kube'
import type { Logger, Metrics } from '@tenure/runtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import type { HttpResponse } from '../routes/response.ts'
import { Exchange } from './exchange.ts'
import { errorResponse, toHttpError } from '../errors/failure.ts'
import { HttpError, notFound } from '../errors/http-error.ts'
import type { HttpMetrics } from './http-metrics.ts'
import { httpMetrics } from './http-metrics.ts'
import { parseJson } from '../body/json-body.ts'
import type { HttpLimits } from './limits.ts'
import type { OpenApiInfo } from '../routes/openapi.ts'
import { describeRoutes, openApiRoute, schemaOf } from '../routes/openapi.ts'
import { PathTable } from '../routes/path-table.ts'
import { readBody } from '../body/read-body.ts'
import type { Route } from '../routes/route.ts'
import { drain, encode, isSending, OpenStreams } from './send.ts'
import type { Gate } from '../auth/token-gate.ts'

export interface AppOptions {
  readonly routes: readonly Route[]
  readonly info: OpenApiInfo
  readonly gate: Gate
  /** Whether the gate asks for tokens. */
  readonly hasTokens: boolean
  /** The names by which it may be called; undefined: by any. */
  readonly hosts: ReadonlySet<string> | undefined
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Makes the server; `handler` takes its requests. */
  readonly makeServer: (handler: RequestListener) => Server
}

const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }
const NO_ROUTE = '(none)'

/** The routes of a server on fastify: what fastify does for us is routing, hooks and the OpenAPI document. */
export class App {
  readonly fastify: FastifyInstance
  readonly streams = new OpenStreams()
  readonly #options: AppOptions
  readonly #metrics: HttpMetrics
  readonly #exchanges = new WeakMap<FastifyRequest, Exchange>()
  /** Requests that send their body only when told to. */
  readonly #waiting = new WeakMap<IncomingMessage, ServerResponse>()
  readonly #streaming = new WeakSet<ServerResponse>()
  readonly #paths: PathTable
  readonly #routes: readonly Route[]
  #isClosing = false

  constructor(options: AppOptions) {
    this.#options = options
    this.#metrics = httpMetrics(options.metrics)
    this.#routes = [...options.routes, openApiRoute(() => this.fastify.swagger())]
    this.#paths = new PathTable(this.#routes)
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

  /** Registers everything. */
  async ready(): Promise<void> {
    const { fastify: app } = this
    await describeRoutes(app, this.#options.info, this.#options.hasTokens)
    // Requests are checked in Exchange, where an error can say which field; answers are what they are.
    app.setValidatorCompiler(() => () => true)
    app.setSerializerCompiler(() => (data) => JSON.stringify(data))
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i, (request: FastifyRequest) =>
      this.#parse(request),
    )
    // Its hooks run; it is never reached.
    app.setNotFoundHandler(() => undefined)
    app.setErrorHandler((error, request, reply) => {
      this.#sendFailure(reply, toHttpError(error), this.#exchanges.get(request)?.route)
    })
    app.addHook('onRequest', async (request, reply) => this.#checkTarget(request, reply))
    for (const route of this.#routes) this.#register(route)
    await app.ready()
  }

  /** From now on every answer is the last on its connection. */
  beginClosing(): void {
    this.#isClosing = true
    this.streams.endAll()
  }

  #makeServer(handler: RequestListener): Server {
    const server = this.#options.makeServer(handler)
    // Node would say yes by itself; so a body that is refused is not even sent.
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
        const answer = await exchange.open()
        if (answer) this.#send(reply, answer, route)
      },
      handler: async (request, reply) => {
        const exchange = this.#exchanges.get(request)
        if (exchange) this.#send(reply, await exchange.answer(request.body), route)
        return reply
      },
    })
  }

  #begin(route: Route, request: FastifyRequest, reply: FastifyReply): Exchange {
    const { clock, log, gate, limits } = this.#options
    const exchange = new Exchange({
      id: request.id,
      route,
      raw: request.raw,
      response: reply.raw,
      params: { ...(request.params as object) },
      query: request.query,
      clock,
      log,
      gate,
      answerTimeout: route.timeout ?? limits.answerTimeout,
    })
    this.#exchanges.set(request, exchange)
    return exchange
  }

  async #parse(request: FastifyRequest): Promise<unknown> {
    const { limits } = this.#options
    const { route } = this.#exchanges.get(request) ?? {}
    this.#waiting.get(request.raw)?.writeContinue()
    this.#waiting.delete(request.raw)
    const bytes = await readBody(request.raw, route?.bodyLimit ?? limits.bodyBytes)
    return bytes.length === 0 ? undefined : parseJson(bytes, route?.maxDepth ?? limits.jsonDepth)
  }

  /** Is it us who is called, and is there such a route? Before anything else is read. */
  #checkTarget(request: FastifyRequest, reply: FastifyReply): void {
    const failure = this.#wrongHost(request) ?? (request.is404 ? this.#wrongPath(request) : undefined)
    if (!failure) return
    this.#watch(reply, NO_ROUTE)
    throw failure
  }

  /** A page elsewhere that makes a browser take its name for ours must not get to use us without a password. */
  #wrongHost({ hostname }: FastifyRequest): HttpError | undefined {
    const { hosts } = this.#options
    if (!hosts || hosts.has(hostname.toLowerCase())) return undefined
    return new HttpError('TENURE_HTTP_HOST', 403, `This server is not called "${hostname}"`)
  }

  #wrongPath({ url }: FastifyRequest): HttpError {
    const allow = this.#paths.allowed(url)
    if (!allow) return notFound()
    return new HttpError('TENURE_HTTP_METHOD', 405, 'Method Not Allowed', { headers: { allow } })
  }

  /** Counts, times and logs a request when it is over. */
  #watch(reply: FastifyReply, route: string): void {
    const { clock, log } = this.#options
    const { raw, request } = reply
    const started = clock.monotonic()
    this.#metrics.inFlight.inc()
    raw.once('close', () => {
      this.#metrics.inFlight.dec()
      const seconds = (clock.monotonic() - started) / 1_000
      const took = this.#streaming.has(raw) ? undefined : seconds
      this.#metrics.answered(request.method, route, raw.statusCode, took)
      log.debug('request answered', {
        requestId: request.id,
        method: request.method,
        route,
        status: raw.statusCode,
        seconds,
      })
    })
  }

  #sendFailure(reply: FastifyReply, failure: HttpError, route: Route | undefined): void {
    const { log } = this.#options
    if (reply.raw.destroyed) return
    const facts = { requestId: reply.request.id, method: reply.request.method, route: route?.path, error: failure }
    if (failure.code === 'TENURE_HTTP_INTERNAL') log.error('request failed', facts)
    else if (failure.status >= 500) log.warn('request not served', facts)
    this.#send(reply, route?.shapeFailure(failure) ?? errorResponse(failure), route)
  }

  #send(reply: FastifyReply, answer: HttpResponse, route: Route | undefined): void {
    const { raw, request } = reply
    // What a caller was not told to send cannot be told from the next request.
    const isLast = this.#isClosing || this.#waiting.has(request.raw)
    const headers = { ...COMMON_HEADERS, ...answer.headers, ...(isLast && { connection: 'close' }) }
    if (answer.body.type === 'stream' && request.method !== 'HEAD') {
      reply.hijack()
      this.#streaming.add(raw)
      this.#metrics.streams.inc()
      this.streams.run(raw, { ...answer, headers, body: answer.body }, () => this.#metrics.streams.dec())
      if (this.#isClosing) raw.end()
      return
    }
    const isFailure = answer.status >= 400
    const { contentType, bytes } = encode(answer, isFailure ? 0 : (route?.indent ?? 0))
    if (!isSending(request.raw) || this.#waiting.has(request.raw)) {
      void reply.code(answer.status).headers(headers).header('content-type', contentType).send(bytes)
      return
    }
    // The answer is out, whole, at once; its end, and with it perhaps that of the connection, waits for the body's.
    reply.hijack()
    const length = { 'content-type': contentType, 'content-length': Buffer.byteLength(bytes) }
    raw.writeHead(answer.status, { ...headers, ...length })
    if (request.method !== 'HEAD') raw.write(bytes)
    drain(request.raw, this.#options.limits.drainBytes, () => raw.end())
  }
}
