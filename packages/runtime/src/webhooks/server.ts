import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@tenure/kube'
import { asError, systemClock, TenureError } from '@tenure/kube'
import type { CertificateWithKey } from '../certificates/index.ts'
import { listen } from '../health/listen.ts'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import type { BodyFailure } from '../serving/index.ts'
import { ByteBudget, HeldBytes, readBody, ServerConnections } from '../serving/index.ts'
import { requestTimeout } from './request-timeout.ts'
import type { AdmissionReviewResponse } from './review.ts'
import { handleReview, errorResponse } from './review.ts'
import type { Webhook } from './webhook.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'
import { webhookMetrics } from './webhook-metrics.ts'

/** Provides the serving certificate and announces its replacement. */
export interface CertificateSource {
  readonly serving: CertificateWithKey
  /** Calls `listener` after `serving` changed. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void
}

export interface AdmissionServerOptions {
  readonly webhooks: readonly Webhook[]
  readonly certificates: CertificateSource
  /** 0 picks any free port. Default 9443. */
  readonly port?: number | undefined
  /** Default: all interfaces. */
  readonly host?: string | undefined
  /**
   * Maximum size of a review in bytes. The API server accepts objects of up to 3 MiB, and the review of an update holds
   * two. Default 7 MiB.
   */
  readonly maxBodyBytes?: number | undefined
  /** Maximum bytes of all reviews in memory; more are answered with 429. Default 128 MiB. */
  readonly maxBufferedBytes?: number | undefined
  /** Default 1000: an API server uses few connections for many calls. A new one replaces the longest idle one. */
  readonly maxConnections?: number | undefined
  /**
   * Number of calls after which a connection is closed, so that callers spread over new replicas. Default 0: unlimited.
   */
  readonly callsPerConnection?: number | undefined
  /** Default: no logs. */
  readonly log?: Logger | undefined
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined
  /** Default: the system clock. */
  readonly clock?: Clock | undefined
}

const MEBIBYTE = 1024 * 1024
/** Milliseconds for a caller to send a review. No webhook may take longer than 30 s. */
const REQUEST_TIMEOUT_MS = 35_000

interface Route {
  readonly webhook: Webhook
  readonly metrics: WebhookMetrics
}

/** Serves webhooks over HTTPS and switches to a new certificate without dropping connections. */
export class AdmissionServer {
  readonly #options: AdmissionServerOptions
  readonly #routes = new Map<string, Route>()
  readonly #log: Logger
  readonly #clock: Clock
  readonly #maxBodyBytes: number
  readonly #buffered: ByteBudget
  #server: Server | undefined
  #connections: ServerConnections | undefined
  #unsubscribe: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: AdmissionServerOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#clock = options.clock ?? systemClock
    this.#maxBodyBytes = options.maxBodyBytes ?? 7 * MEBIBYTE
    this.#buffered = new ByteBudget(options.maxBufferedBytes ?? 128 * MEBIBYTE)
    for (const webhook of options.webhooks) {
      if (this.#routes.has(webhook.path)) {
        throw new TenureError(
          'TENURE_WEBHOOK_DEFINITION',
          `Two webhooks have the path ${webhook.path}: give "${webhook.name}" a different path.`,
        )
      }
      this.#routes.set(webhook.path, { webhook, metrics: webhookMetrics(options.metrics ?? noMetrics, webhook) })
    }
  }

  /** The bound port. Throws before `listen`. */
  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined
    if (!address)
      throw new TenureError('TENURE_WEBHOOK_SERVER', 'The webhook server is not listening: call listen() first.')
    return address.port
  }

  /** For readiness: true from `listen` to `close`. */
  get isListening(): boolean {
    return this.#server !== undefined && !this.#closing
  }

  /** Resolves when the server accepts calls; rejects if it cannot bind the port. */
  async listen(): Promise<void> {
    const { certificates, port = 9443, host } = this.#options
    // Loaded on demand: few programs that import the runtime serve webhooks.
    const { createServer } = await import('node:https')
    const secure = () => ({ cert: certificates.serving.certificate, key: certificates.serving.key })
    const server = createServer(
      {
        ...secure(),
        minVersion: 'TLSv1.2',
        handshakeTimeout: 10_000,
        maxHeaderSize: 16 * 1024,
        headersTimeout: 10_000,
        requestTimeout: REQUEST_TIMEOUT_MS,
        // Go's client closes idle connections after 90 s. The server must not close first: a call may just be under
        // way.
        keepAliveTimeout: 120_000,
      },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          // A client that disconnects in the middle of a request is not an error of the server.
          const level = request.errored ? 'debug' : 'error'
          this.#log[level]('failed to answer webhook request', { error: asError(error) })
          response.destroy()
        })
      },
    )
    server.maxRequestsPerSocket = this.#options.callsPerConnection ?? 0
    this.#connections = new ServerConnections(server, { max: this.#options.maxConnections ?? 1000 })
    this.#connections.followRequests(server)
    server.on('tlsClientError', (error) => this.#log.debug('TLS handshake failed', { error }))
    await listen(server, { host, port }, { what: 'webhooks', setting: 'WEBHOOK_PORT' })
    server.removeAllListeners('error')
    server.on('error', (error) => this.#log.error('webhook server failed', { error }))
    this.#server = server
    this.#unsubscribe = certificates.subscribe(() => {
      // Open connections keep the old certificate; new ones get the new one.
      server.setSecureContext({ ...secure(), minVersion: 'TLSv1.2' })
      this.#log.info('replaced serving certificate')
    })
    this.#log.info('serving webhooks', { port: this.port, paths: [...this.#routes.keys()] })
  }

  /**
   * Stops accepting calls, waits for those in flight, and closes all connections after `grace` milliseconds. Default 30
   * s.
   */
  async close(grace = 30_000): Promise<void> {
    const server = this.#server
    if (server) await (this.#closing ??= this.#close(server, grace))
  }

  async #close(server: Server, grace: number): Promise<void> {
    this.#unsubscribe?.()
    const timer = this.#clock.setTimer(grace, () => server.closeAllConnections())
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      this.#connections?.closeIdle()
    })
    timer.cancel()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    const route = this.#routes.get(path)
    if (!route) {
      this.#send(request, response, errorResponse(404, 'NotFound', 'No webhook is served at this path.'))
      return
    }
    const { webhook, metrics } = route
    const started = this.#clock.monotonic()
    metrics.inFlight.inc()
    try {
      const review = await this.#review(webhook, query, request, response)
      metrics.responded(review.status)
      this.#send(request, response, review)
    } finally {
      metrics.inFlight.dec()
      metrics.latency.observe((this.#clock.monotonic() - started) / 1000)
    }
  }

  async #review(
    webhook: Webhook,
    query: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<AdmissionReviewResponse> {
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST')
      return errorResponse(405, 'MethodNotAllowed', 'Admission reviews must be sent with POST.')
    }
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      return errorResponse(415, 'UnsupportedMediaType', 'Admission reviews must be sent as application/json.')
    }
    const held = new HeldBytes(this.#buffered)
    const maxBytes = this.#maxBodyBytes
    const body = await readBody(request, { maxBytes, held, timeout: REQUEST_TIMEOUT_MS, clock: this.#clock })
    if (typeof body === 'string') return bodyError(body, maxBytes)
    const gone = new AbortController()
    const onClose = (): void => gone.abort(new Error('the API server disconnected'))
    response.once('close', onClose)
    try {
      return await handleReview(webhook, body.toString(), {
        timeout: requestTimeout(query),
        signal: gone.signal,
        log: this.#log,
        clock: this.#clock,
      })
    } finally {
      held.release()
      response.off('close', onClose)
    }
  }

  #send(request: IncomingMessage, response: ServerResponse, review: AdmissionReviewResponse): void {
    if (response.destroyed) return
    const text = JSON.stringify(review.body)
    response.statusCode = review.status
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-length', Buffer.byteLength(text))
    // An unread body would be parsed as the next request, and a closing server keeps no connections.
    if (this.#closing || !request.complete) response.setHeader('connection', 'close')
    response.end(text)
  }
}

function bodyError(failure: BodyFailure, maxBytes: number): AdmissionReviewResponse {
  switch (failure) {
    case 'tooLarge':
      return errorResponse(413, 'RequestEntityTooLarge', `Admission reviews may have at most ${maxBytes} bytes.`)
    case 'overBudget':
      return errorResponse(429, 'TooManyRequests', 'The server handles too many admission reviews; try again.')
    case 'tooSlow':
      return errorResponse(408, 'Timeout', 'The admission review did not arrive in time.')
    case 'cut':
      return errorResponse(400, 'BadRequest', 'The admission review was cut off.')
    default:
      return failure satisfies never
  }
}
