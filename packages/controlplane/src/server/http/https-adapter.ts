import { constants, createSecureServer } from 'node:http2'
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  IncomingHttpHeaders,
  SecureServerOptions,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import type { IncomingMessage, ServerResponse as Http1Response } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Clock, Random } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { ByteBudget, discardBody, HeldBytes, ServerConnections } from '@tenure/runtime/serving'
import { StatusError, statusBody } from '../../errors.ts'
import { newUid } from '../../registry/verbs/prepare.ts'
import type { User } from '../../registry/types.ts'
import type { ApiServer, RequestText } from '../api-server.ts'
import { DEFAULT_HTTPS_LIMITS } from './https-limits.ts'
import type { HttpsLimits } from './https-limits.ts'
import { RequestBodies, tooMany } from './request-bodies.ts'
import { PLAIN_HEADERS } from './response.ts'
import type { ServerResponse } from './response.ts'
import { certificateUser } from '../auth/authentication.ts'
import type { Authenticator } from '../auth/authentication.ts'
import { ListBody } from '../encoding/list-body.ts'
import { sendList, sendWatch } from './stream-writer.ts'
import { WatchFeed } from '../watch/watch-feed.ts'

export interface HttpsAdapterOptions {
  readonly server: Pick<ApiServer, 'handle'>
  readonly authenticator: Authenticator
  /** Server certificate and key, PEM. */
  readonly certificate: string
  readonly key: string
  /** Client certificates of this authority are accepted, PEM. */
  readonly clientAuthority: string
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Default: see HttpsLimits. */
  readonly limits?: Partial<HttpsLimits> | undefined
}

/** As in kube-apiserver, which fits most requests into one window. */
const STREAM_WINDOW_BYTES = 256 * 1024
/** Maximum number of entries of a SETTINGS frame. */
const MAX_SETTINGS = 32
/** Characters of a text that is sent without a time limit. */
const LONG_TEXT_LENGTH = 64 * 1024

/** One error for all: making one per closed request costs more than many requests. */
const GONE = new Error('The client has disconnected.')

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** State of a connection, which is an HTTP/2 session or the socket of HTTP/1.1. */
interface ConnectionState {
  readonly buffered: ByteBudget
  /** The user of its client certificate. */
  readonly user: User | 'refused' | undefined
}

/** One request of either protocol. */
interface Incoming {
  readonly body: Readable
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly socket: TLSSocket | undefined
  /** The HTTP/2 session or the socket. */
  readonly connection: object
  readonly signal: AbortSignal
  readonly send: (response: ServerResponse) => void
  /** Called after a response to a client without credentials. */
  readonly anonymous: () => void
  /** Called after a response to a request whose body was not read to its end. */
  readonly abandon: () => void
}

/** Milliseconds that a connection outlives its announced idle time-out, for requests that are on their way. */
const KEEP_ALIVE_BUFFER_MS = 1000

/** Serves the API over HTTPS, with HTTP/2 and HTTP/1.1. */
export class HttpsAdapter {
  readonly #options: HttpsAdapterOptions
  readonly #limits: HttpsLimits
  readonly #http: Http2SecureServer
  readonly #connections: ServerConnections
  readonly #states = new WeakMap<object, ConnectionState>()
  readonly #buffered: ByteBudget
  readonly #bodies: RequestBodies

  constructor(options: HttpsAdapterOptions) {
    this.#options = options
    const limits = { ...DEFAULT_HTTPS_LIMITS, ...options.limits }
    this.#limits = limits
    this.#buffered = new ByteBudget(limits.bufferedBytes)
    this.#bodies = new RequestBodies(limits, options.clock)
    const http1Options = {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.bodyTimeout,
      keepAliveTimeout: limits.idleTimeout,
      keepAliveTimeoutBuffer: KEEP_ALIVE_BUFFER_MS,
      connectionsCheckingInterval: Math.min(limits.headersTimeout, limits.bodyTimeout, 2_000),
    }
    // The types of Node 22 do not have `http1Options`.
    const serverOptions: SecureServerOptions & { readonly http1Options: typeof http1Options } = {
      allowHTTP1: true,
      cert: options.certificate,
      key: options.key,
      ca: options.clientAuthority,
      requestCert: true,
      // A client without a valid certificate may have a token.
      rejectUnauthorized: false,
      handshakeTimeout: limits.handshakeTimeout,
      settings: {
        maxConcurrentStreams: limits.streams,
        initialWindowSize: STREAM_WINDOW_BYTES,
        maxHeaderListSize: limits.headerBytes,
      },
      maxSettings: MAX_SETTINGS,
      http1Options,
    }
    this.#http = createSecureServer(serverOptions)
    // Node 22 ignores `http1Options` and reads these properties, as Node 24 does after it has set them.
    Object.assign(this.#http, http1Options)
    this.#connections = new ServerConnections(this.#http, {
      max: limits.connections,
      reserve: limits.reservedConnections,
    })
    this.#http.on('request', (request, response) => {
      if (request.httpVersionMajor < 2) this.#onHttp1(request, response)
    })
    // A request listener makes Node handle HTTP/2 streams in a slower layer as well; this one replaces it.
    this.#http.removeAllListeners('stream')
    this.#http.on('session', (session) => this.#onSession(session))
    this.#http.on('sessionError', (error: Error) => options.log.debug('connection failed', { error }))
    this.#http.on('tlsClientError', (error: Error) => options.log.debug('TLS handshake failed', { error }))
    this.#http.on('secureConnection', (socket) => {
      // Reading the certificate clears OpenSSL's error queue. The error of a certificate that another authority with the
      // same name has signed would otherwise end the connection with the next read.
      socket.getPeerCertificate()
      socket.on('error', (error: Error) => options.log.debug('connection failed', { error }))
    })
    this.#http.setTimeout(0)
  }

  /** Resolves with the port; rejects if it cannot be bound. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject)
      this.#http.listen({ port, host }, () => {
        this.#http.off('error', reject)
        this.#http.on('error', (error) => this.#options.log.error('HTTPS server failed', { error }))
        resolve((this.#http.address() as AddressInfo).port)
      })
    })
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()))
    this.#connections.closeAll()
    await closed
  }

  /** Closes a session that has no stream for some time. A watch keeps its session open. */
  #onSession(session: ServerHttp2Session): void {
    let streams = 0
    session.setTimeout(this.#limits.headersTimeout, () => {
      if (streams === 0) session.destroy()
    })
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      if (streams++ === 0) session.setTimeout(this.#limits.idleTimeout)
      const end = this.#connections.begin(session.socket)
      stream.on('close', () => {
        streams--
        end()
      })
      this.#onStream(session, stream, headers)
    })
  }

  #onStream(session: ServerHttp2Session, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const abort = new AbortController()
    stream.on('close', () => {
      if (!stream.writableFinished) abort.abort(GONE)
    })
    stream.on('error', (error) => this.#options.log.debug('request aborted', { error }))
    const { ':method': method = 'GET', ':path': path = '/' } = headers
    const send = (response: ServerResponse): void => {
      const { body } = response
      if (stream.destroyed || stream.closed) {
        if (body instanceof WatchFeed) body.close()
        return
      }
      stream.respond({ ':status': response.status, ...response.headers, ...this.#always(headers) })
      if (isLong(body)) {
        // Without effect on a watch that has nothing to send.
        stream.setTimeout(this.#limits.stallTimeout, () => {
          if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL)
        })
      }
      if (body instanceof WatchFeed) sendWatch(body, stream, () => stream.close())
      else if (method === 'HEAD') stream.end()
      else if (body instanceof ListBody) sendList(body, stream)
      else stream.end(body)
    }
    this.#serve({
      body: stream,
      method,
      path,
      headers,
      // Http2Session.socket is a proxy with the properties of the socket.
      socket: session.socket as TLSSocket,
      connection: session,
      signal: abort.signal,
      send,
      // As in kube-apiserver: HTTP/2 is expensive to serve, so clients without credentials do not keep it.
      anonymous: () => session.close(),
      // The client has its response and can stop sending.
      abandon: () => stream.close(constants.NGHTTP2_NO_ERROR),
    })
  }

  #onHttp1(given: Http2ServerRequest | IncomingMessage, made: Http2ServerResponse | Http1Response): void {
    const response = made as Http1Response
    const request = given as IncomingMessage
    const abort = new AbortController()
    const end = this.#connections.begin(request.socket)
    response.on('close', () => {
      end()
      if (!response.writableFinished) abort.abort(GONE)
    })
    request.on('error', (error) => this.#options.log.debug('request aborted', { error }))
    const { method = 'GET', url = '/', headers } = request
    const send = (result: ServerResponse): void => {
      const { body } = result
      if (response.destroyed) {
        if (body instanceof WatchFeed) body.close()
        return
      }
      const head = { ...result.headers, ...this.#always(headers) }
      if (isLong(body)) {
        response.setTimeout(this.#limits.stallTimeout, () => {
          if (response.writableLength > 0) response.destroy()
        })
      }
      if (typeof body === 'string') return sendText(response, { ...result, headers: head, body }, method)
      response.writeHead(result.status, head)
      if (body instanceof WatchFeed) {
        response.flushHeaders()
        sendWatch(body, response, () => response.destroy())
      } else if (method === 'HEAD') response.end()
      else sendList(body, response)
    }
    this.#serve({
      body: request,
      method,
      path: url,
      headers,
      socket: request.socket as TLSSocket,
      connection: request.socket,
      signal: abort.signal,
      send,
      anonymous: () => undefined,
      abandon: () => discardBody(request, this.#limits.discardedBytes),
    })
  }

  #always(headers: Headers): Record<string, string> {
    const given = headers['audit-id']
    return { 'audit-id': typeof given === 'string' && given ? given : newUid(this.#options.random) }
  }

  #serve(incoming: Incoming): void {
    const { body, method, path, headers, socket, signal, send } = incoming
    const state = this.#stateOf(incoming)
    // A token of the request takes precedence over the certificate of the connection.
    const user = this.#options.authenticator.byHeader(headers['authorization'] as string | undefined) ?? state.user
    const held = new HeldBytes(state.buffered)
    const run = async (): Promise<void> => {
      if (user === 'refused') throw new StatusError(401, 'Unauthorized', 'Unauthorized')
      if (user && socket && !this.#connections.keep(socket)) throw tooMany('The server has too many connections')
      const hasBody = method !== 'GET' && method !== 'HEAD'
      const request = { method, path, headers: single(headers), body: undefined, user, signal }
      const readBody = (): Promise<RequestText> => this.#bodies.read(body, request.headers, held)
      send(await this.#options.server.handle(hasBody ? { ...request, readBody } : request))
      if (!user) incoming.anonymous()
    }
    run()
      .catch((thrown: unknown) => {
        const error = asError(thrown)
        if (!(error instanceof StatusError)) return this.#options.log.debug('response failed', { error })
        send(errorResponse(error))
        if (user === 'refused') incoming.anonymous()
      })
      .finally(() => {
        held.release()
        if (!body.readableEnded && !body.destroyed && method !== 'GET' && method !== 'HEAD') incoming.abandon()
      })
  }

  #stateOf({ connection, socket }: Incoming): ConnectionState {
    const known = this.#states.get(connection)
    if (known) return known
    const buffered = new ByteBudget(this.#limits.connectionBufferedBytes, this.#buffered)
    const state = { buffered, user: socket && userOfSocket(socket) }
    this.#states.set(connection, state)
    return state
  }
}

/** A response that a client may be slow to read. */
function isLong(body: ServerResponse['body']): boolean {
  return typeof body !== 'string' || body.length > LONG_TEXT_LENGTH
}

function userOfSocket(socket: TLSSocket): User | 'refused' | undefined {
  const certificate = socket.getPeerCertificate()
  if (!certificate || Object.keys(certificate).length === 0) return undefined
  return socket.authorized ? (certificateUser(certificate.subject, certificate.fingerprint256) ?? 'refused') : 'refused'
}

function errorResponse(error: StatusError): ServerResponse {
  const wait = error.details?.retryAfterSeconds
  const retry = wait === undefined ? {} : { 'retry-after': String(wait) }
  return { status: error.code, headers: { ...PLAIN_HEADERS, ...retry }, body: `${JSON.stringify(statusBody(error))}\n` }
}

function single(headers: Headers): Readonly<Record<string, string | undefined>> {
  // Only Set-Cookie is a list; a repeated Impersonate-Group is joined by commas.
  return headers as Readonly<Record<string, string | undefined>>
}

interface TextResponse extends ServerResponse {
  readonly body: string
}

function sendText(response: Http1Response, { status, headers, body }: TextResponse, method: string): void {
  const { warning = '' } = headers
  // Node would encode non-ASCII header bytes a second time when it sends the header together with the body.
  const isPlain = /^[\x20-\x7E]*$/.test(warning)
  const head = isPlain ? headers : { ...headers, warning: Buffer.from(warning).toString('latin1') }
  response.writeHead(status, { ...head, 'content-length': Buffer.byteLength(body) })
  response.end(method === 'HEAD' ? undefined : isPlain ? body : Buffer.from(body))
}
