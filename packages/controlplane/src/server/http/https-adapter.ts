import { isUtf8 } from 'node:buffer'
import { createSecureServer } from 'node:http2'
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  IncomingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2'
import type { IncomingMessage, ServerResponse as Http1Response } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Clock, Random } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { discardBody, readBody } from '@tenure/runtime/serving'
import { StatusError, statusBody } from '../../errors.ts'
import { newUid } from '../../registry/verbs/prepare.ts'
import type { User } from '../../registry/types.ts'
import type { ApiServer, ServerRequest } from '../api-server.ts'
import type { ServerResponse } from './response.ts'
import { certificateUser } from '../auth/authentication.ts'
import type { Authenticator } from '../auth/authentication.ts'
import { MAX_BODY_BYTES, tooLarge } from '../encoding/request-body.ts'
import { ListBody } from '../encoding/list-body.ts'
import { sendList, sendWatch } from './stream-writer.ts'
import { WatchFeed } from '../watch/watch-feed.ts'

export interface HttpsAdapterOptions {
  readonly server: ApiServer
  readonly authenticator: Authenticator
  /** Server certificate and key, PEM. */
  readonly certificate: string
  readonly key: string
  /** Client certificates of this authority are accepted, PEM. */
  readonly clientAuthority: string
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** One error for all: making one per closed request costs more than many requests. */
const GONE = new Error('The client has disconnected.')

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Serves the API over HTTPS, with HTTP/2 and HTTP/1.1. */
export class HttpsAdapter {
  readonly #options: HttpsAdapterOptions
  readonly #http: Http2SecureServer
  readonly #sockets = new Set<TLSSocket>()
  readonly #users = new WeakMap<object, User | 'refused'>()

  constructor(options: HttpsAdapterOptions) {
    this.#options = options
    this.#http = createSecureServer({
      allowHTTP1: true,
      cert: options.certificate,
      key: options.key,
      ca: options.clientAuthority,
      requestCert: true,
      // A client without a valid certificate may have a token.
      rejectUnauthorized: false,
      settings: { maxConcurrentStreams: 1000, initialWindowSize: 1024 * 1024 },
    })
    this.#http.on('request', (request, response) => {
      if (request.httpVersionMajor < 2) this.#onHttp1(request, response)
    })
    // A request listener makes Node handle HTTP/2 streams in a slower layer as well; this one replaces it.
    this.#http.removeAllListeners('stream')
    this.#http.on('stream', (stream, headers) => this.#onStream(stream, headers))
    this.#http.on('sessionError', (error: Error) => options.log.debug('connection failed', { error }))
    this.#http.on('tlsClientError', (error: Error) => options.log.debug('TLS handshake failed', { error }))
    this.#http.on('secureConnection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
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
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const abort = new AbortController()
    stream.on('close', () => {
      if (!stream.writableFinished) abort.abort(GONE)
    })
    stream.on('error', (error) => this.#options.log.debug('request aborted', { error }))
    const { ':method': method = 'GET', ':path': path = '/' } = headers
    const user = this.#userOf(stream.session ?? stream, stream.session?.socket as TLSSocket | undefined, headers)
    const send = (response: ServerResponse): void => {
      const { body } = response
      if (stream.destroyed) {
        if (body instanceof WatchFeed) body.close()
        return
      }
      stream.respond({ ':status': response.status, ...response.headers, ...this.#always(headers) })
      if (body instanceof WatchFeed) sendWatch(body, stream, () => stream.close())
      else if (method === 'HEAD') stream.end()
      else if (body instanceof ListBody) sendList(body, stream)
      else stream.end(body)
    }
    this.#serve(stream, method, path, headers, user, abort.signal, send)
  }

  #onHttp1(request: Http2ServerRequest | IncomingMessage, given: Http2ServerResponse | Http1Response): void {
    const response = given as Http1Response
    const abort = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) abort.abort(GONE)
    })
    request.on('error', (error) => this.#options.log.debug('request aborted', { error }))
    const { method = 'GET', url = '/', headers } = request as IncomingMessage
    const user = this.#userOf(request.socket, request.socket as TLSSocket, headers)
    const send = (result: ServerResponse): void => {
      const { body } = result
      if (response.destroyed) {
        if (body instanceof WatchFeed) body.close()
        return
      }
      const head = { ...result.headers, ...this.#always(headers) }
      if (typeof body === 'string') return sendText(response, { ...result, headers: head, body }, method)
      response.writeHead(result.status, head)
      if (body instanceof WatchFeed) {
        response.flushHeaders()
        sendWatch(body, response, () => response.destroy())
      } else if (method === 'HEAD') response.end()
      else sendList(body, response)
    }
    this.#serve(request, method, url, headers, user, abort.signal, send)
  }

  #always(headers: Headers): Record<string, string> {
    const given = headers['audit-id']
    return { 'audit-id': typeof given === 'string' && given ? given : newUid(this.#options.random) }
  }

  #serve(
    body: Readable,
    method: string,
    path: string,
    headers: Headers,
    user: User | 'refused' | undefined,
    signal: AbortSignal,
    send: (response: ServerResponse) => void,
  ): void {
    const run = async (): Promise<void> => {
      if (user === 'refused') throw new StatusError(401, 'Unauthorized', 'Unauthorized')
      const bytes = method === 'GET' || method === 'HEAD' ? undefined : await wholeBody(body)
      const sent = single(headers)
      const isProtobuf = bytes !== undefined && bytes.length > 0 && (sent['content-type'] ?? '').startsWith(PROTOBUF)
      const request = isProtobuf
        ? { headers: { ...sent, 'content-type': 'application/json' }, body: await fromProtobuf(bytes) }
        : { headers: sent, ...(await textOf(bytes, sent['content-type'])) }
      send(await this.#options.server.handle({ method, path, ...request, user, signal }))
    }
    run().catch((thrown: unknown) => {
      const error = asError(thrown)
      if (!(error instanceof StatusError)) return this.#options.log.debug('response failed', { error })
      send(errorResponse(error))
      discardBody(body)
    })
  }

  /** A token of the request takes precedence over the certificate of the connection. */
  #userOf(connection: object, socket: TLSSocket | undefined, headers: Headers): User | 'refused' | undefined {
    const { authorization } = headers
    const byToken = this.#options.authenticator.byHeader(typeof authorization === 'string' ? authorization : undefined)
    if (byToken !== undefined) return byToken
    const known = this.#users.get(connection)
    if (known) return known
    const user = socket && userOfSocket(socket)
    if (user) this.#users.set(connection, user)
    return user
  }
}

function userOfSocket(socket: TLSSocket): User | 'refused' | undefined {
  const certificate = socket.getPeerCertificate()
  if (!certificate || Object.keys(certificate).length === 0) return undefined
  return socket.authorized ? (certificateUser(certificate.subject, certificate.fingerprint256) ?? 'refused') : 'refused'
}

function errorResponse(error: StatusError): ServerResponse {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }
  return { status: error.code, headers, body: `${JSON.stringify(statusBody(error))}\n` }
}

function single(headers: Headers): Readonly<Record<string, string | undefined>> {
  // Only Set-Cookie is a list; a repeated Impersonate-Group is joined by commas.
  return headers as Readonly<Record<string, string | undefined>>
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf'

async function fromProtobuf(bytes: Buffer): Promise<string> {
  const { jsonFromProtobuf } = await import('../encoding/protobuf.ts')
  return jsonFromProtobuf(bytes)
}

/** JSON is decoded as UTF-8 with replacement characters; YAML may have another encoding and must be valid. */
async function textOf(
  bytes: Buffer | undefined,
  type: string | undefined,
): Promise<Pick<ServerRequest, 'body' | 'unreadable'>> {
  if (bytes === undefined || !type?.includes('yaml') || isUtf8(bytes)) return { body: bytes?.toString() }
  const { decodeYaml } = await import('../yaml/encoding.ts')
  return decodeYaml(bytes)
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

async function wholeBody(body: Readable): Promise<Buffer> {
  const read = await readBody(body, { maxBytes: MAX_BODY_BYTES })
  if (read === 'tooLarge') throw tooLarge()
  if (read === 'cut') throw GONE
  return read
}
