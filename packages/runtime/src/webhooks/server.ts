import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@tenure/kube'
import { asError, systemClock, TenureError } from '@tenure/kube'
import type { CertificateWithKey } from '../certificates/index.ts'
import { UnusedConnections } from '../health/index.ts'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { requestTimeout } from './request-timeout.ts'
import type { ReviewResponse } from './review.ts'
import { handleReview, refusal } from './review.ts'
import type { Webhook } from './webhook.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'
import { webhookMetrics } from './webhook-metrics.ts'

/** Where the serving certificate comes from, now and whenever it is replaced. */
export interface CertificateSource {
  readonly serving: CertificateWithKey
  /** Calls back after `serving` changed. Returns what ends that. */
  subscribe(listener: () => void): () => void
}

export interface AdmissionServerOptions {
  readonly webhooks: readonly Webhook[]
  readonly certificates: CertificateSource
  /** 0 takes any free one. Default 9443. */
  readonly port?: number | undefined
  /** Default: all interfaces. */
  readonly host?: string | undefined
  /**
   * The largest review that is read. The API server takes objects of up to 3 MiB, and a review of an update holds two
   * of them. Default 7 MiB.
   */
  readonly maxBodyBytes?: number | undefined
  /** Default 1000: an API server keeps few connections, each for many calls. */
  readonly maxConnections?: number | undefined
  /**
   * After this many calls a connection is closed, so that callers spread over replicas that came later. Default 0: never.
   */
  readonly callsPerConnection?: number | undefined
  /** Default: none. */
  readonly log?: Logger | undefined
  /** Default: none. */
  readonly metrics?: Metrics | undefined
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined
}

interface Route {
  readonly webhook: Webhook
  readonly metrics: WebhookMetrics
}

/** Serves webhooks over HTTPS, and takes a new certificate without dropping a connection. */
export class AdmissionServer {
  readonly #options: AdmissionServerOptions
  readonly #routes = new Map<string, Route>()
  readonly #log: Logger
  readonly #clock: Clock
  readonly #maxBodyBytes: number
  #server: Server | undefined
  #silent: UnusedConnections | undefined
  #unsubscribe: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: AdmissionServerOptions) {
    this.#options = options
    this.#log = options.log ?? silentLogger
    this.#clock = options.clock ?? systemClock
    this.#maxBodyBytes = options.maxBodyBytes ?? 7 * 1024 * 1024
    for (const webhook of options.webhooks) {
      if (this.#routes.has(webhook.path)) {
        throw new TenureError(
          'TENURE_WEBHOOK_DEFINITION',
          `Two webhooks are served under ${webhook.path}: give "${webhook.name}" a path of its own.`,
        )
      }
      this.#routes.set(webhook.path, { webhook, metrics: webhookMetrics(options.metrics ?? noMetrics, webhook) })
    }
  }

  /** The port that is listened on. Throws before `listen`. */
  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined
    if (!address)
      throw new TenureError('TENURE_WEBHOOK_SERVER', 'The webhook server does not listen: call listen first.')
    return address.port
  }

  /** For readiness: true from `listen` to `close`. */
  get isListening(): boolean {
    return this.#server !== undefined && !this.#closing
  }

  /** Resolves when calls are taken; rejects if the port can not be had. */
  async listen(): Promise<void> {
    const { certificates, port = 9443, host } = this.#options
    // Loaded here, because few programs that import the runtime serve webhooks.
    const { createServer } = await import('node:https')
    const secure = () => ({ cert: certificates.serving.certificate, key: certificates.serving.key })
    const server = createServer(
      {
        ...secure(),
        minVersion: 'TLSv1.2',
        handshakeTimeout: 10_000,
        maxHeaderSize: 16 * 1024,
        headersTimeout: 10_000,
        // No webhook may take longer than 30 s.
        requestTimeout: 35_000,
        // Go's client drops idle connections after 90 s. It has to be the one to do so: a server that closes first
        // may do it just as a call is under way.
        keepAliveTimeout: 120_000,
      },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          // Whoever hangs up in the middle of a request is their own problem; anything else is ours.
          const level = request.errored ? 'debug' : 'error'
          this.#log[level]('webhook request not answered', { error: asError(error) })
          response.destroy()
        })
      },
    )
    server.maxConnections = this.#options.maxConnections ?? 1000
    server.maxRequestsPerSocket = this.#options.callsPerConnection ?? 0
    this.#silent = new UnusedConnections(server)
    server.on('tlsClientError', (error) => this.#log.debug('TLS handshake failed', { error }))
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(cannotListen(port, cause)))
      server.listen(port, host, resolve)
    })
    server.removeAllListeners('error')
    server.on('error', (error) => this.#log.error('webhook server failed', { error }))
    this.#server = server
    this.#unsubscribe = certificates.subscribe(() => {
      // Connections that are open go on with what they agreed on; new ones get the new certificate.
      server.setSecureContext({ ...secure(), minVersion: 'TLSv1.2' })
      this.#log.info('serving certificate replaced')
    })
    this.#log.info('webhooks served', { port: this.port, paths: [...this.#routes.keys()] })
  }

  /** Takes no more calls, finishes those under way, and cuts what is left after `grace` milliseconds. Default 30 s. */
  async close(grace = 30_000): Promise<void> {
    const server = this.#server
    if (server) await (this.#closing ??= this.#close(server, grace))
  }

  async #close(server: Server, grace: number): Promise<void> {
    this.#unsubscribe?.()
    const timer = this.#clock.setTimer(grace, () => server.closeAllConnections())
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeIdleConnections()
      this.#silent?.closeAll()
    })
    timer.cancel()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2)
    const route = this.#routes.get(path)
    if (!route) {
      this.#send(request, response, refusal(404, 'NotFound', 'There is no webhook under this path.'))
      return
    }
    const { webhook, metrics } = route
    const started = this.#clock.monotonic()
    metrics.inFlight.inc()
    try {
      const answer = await this.#answer(webhook, query, request, response)
      metrics.answered(answer.status)
      this.#send(request, response, answer)
    } finally {
      metrics.inFlight.dec()
      metrics.latency.observe((this.#clock.monotonic() - started) / 1000)
    }
  }

  async #answer(
    webhook: Webhook,
    query: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<ReviewResponse> {
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST')
      return refusal(405, 'MethodNotAllowed', 'Admission reviews are sent with POST.')
    }
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      return refusal(415, 'UnsupportedMediaType', 'Admission reviews are sent as application/json.')
    }
    const body = await readBody(request, this.#maxBodyBytes)
    if (body === undefined) {
      return refusal(413, 'RequestEntityTooLarge', `Admission reviews may have ${this.#maxBodyBytes} bytes.`)
    }
    const gone = new AbortController()
    const onClose = (): void => gone.abort(new Error('the API server went away'))
    response.once('close', onClose)
    try {
      return await handleReview(webhook, body, {
        timeout: requestTimeout(query),
        signal: gone.signal,
        log: this.#log,
        clock: this.#clock,
      })
    } finally {
      response.off('close', onClose)
    }
  }

  #send(request: IncomingMessage, response: ServerResponse, answer: ReviewResponse): void {
    if (response.destroyed) return
    const text = JSON.stringify(answer.body)
    response.statusCode = answer.status
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-length', Buffer.byteLength(text))
    // What was not read would be taken for the next request; and who closes keeps no connection for later.
    if (this.#closing || !request.complete) response.setHeader('connection', 'close')
    response.end(text)
  }
}

/** The whole body as text, or undefined once it is known to be longer than `limit`. */
async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function cannotListen(port: number, cause: NodeJS.ErrnoException): TenureError {
  const why =
    cause.code === 'EADDRINUSE' ? `port ${port} is taken; choose another or 0 for any free one` : cause.message
  return new TenureError('TENURE_WEBHOOK_SERVER', `The webhook server can not listen: ${why}.`, { cause })
}
