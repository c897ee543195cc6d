import { abortReason, systemClock } from '../clock.ts'
import { asError, ConnectionError } from '../errors/errors.ts'
import { connectionFailure } from '../config/connection-failure.ts'
import { credentialSource } from '../config/credentials/credentials.ts'
import { systemFiles } from '../config/files.ts'
import { runCommand } from '../config/credentials/run-command.ts'
import { PooledRequest } from './pooled-request.ts'
import { impersonationHeaders } from './impersonation-headers.ts'
import { openConnections } from './connections.ts'
import { HttpStreams } from './stream/http-streams.ts'
import { TlsFiles, validate } from './tls.ts'
import type { Clock } from '../clock.ts'
import type { ConnectionConfig } from '../config/connection-config.ts'
import type { Credential, CredentialSource } from '../config/credentials/credential-source.ts'
import type { Files } from '../config/files.ts'
import type { CommandRunner } from '../config/credentials/run-command.ts'
import type { ConnectionLimits, Connections } from './connections.ts'
import type { TlsMaterial } from './tls.ts'
import type { Dispatcher } from './undici.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

export interface HttpTransportOptions {
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Default: the file system. */
  readonly files?: Files
  /** Runs exec plugins. Default: as a child process. */
  readonly run?: CommandRunner
  /** Whether an exec plugin may prompt the user. Default: if standard input is a terminal. */
  readonly isTerminal?: () => boolean
  /** Default `tenure`. */
  readonly userAgent?: string
  /** Maximum number of connections for ordinary requests; further requests wait. Streams do not count. Default 64. */
  readonly connections?: number
  /** Milliseconds to open a connection, including TLS. Default 10 s. */
  readonly connectTimeout?: number
  /** Milliseconds until the response headers, also of streams. Default 70 s: the server's own limit is 60 s, and it gives a reason. */
  readonly headersTimeout?: number
  /** Milliseconds that a response body may pause. Default 60 s. Streams have no limit. */
  readonly bodyTimeout?: number
  /** Milliseconds until an idle connection is closed. Default 60 s; the API server closes it after 90 s. */
  readonly keepAliveTimeout?: number
  /** Milliseconds without data before TCP keep-alive probes start. Default 30 s; Node closes the connection 10 s later. */
  readonly keepAliveProbe?: number
}

interface Open {
  readonly material: TlsMaterial
  readonly certificate: Credential['certificate']
  readonly connections: Connections
}

/** Sends requests to an API server over HTTP/1.1. Connections and modules are opened with the first request. */
export class HttpTransport implements Transport {
  readonly #config: ConnectionConfig
  readonly #limits: ConnectionLimits
  readonly #credentials: CredentialSource
  readonly #tls: TlsFiles
  readonly #origin: string
  readonly #basePath: string
  readonly #headers: Readonly<Record<string, string | string[]>>
  #open: Open | undefined
  #opening: Promise<Open> | undefined
  /** Connections with old certificates and pending requests. */
  readonly #retired = new Set<Connections>()
  #closed: Promise<void> | undefined

  constructor(config: ConnectionConfig, options: HttpTransportOptions = {}) {
    const { clock = systemClock, files = systemFiles } = options
    this.#config = config
    this.#limits = {
      connections: options.connections ?? 64,
      connectTimeout: options.connectTimeout ?? 10_000,
      headersTimeout: options.headersTimeout ?? 70_000,
      bodyTimeout: options.bodyTimeout ?? 60_000,
      keepAliveTimeout: options.keepAliveTimeout ?? 60_000,
      keepAliveProbe: options.keepAliveProbe ?? 30_000,
    }
    this.#credentials = credentialSource(config, {
      clock,
      files,
      run: options.run ?? runCommand,
      isTerminal: options.isTerminal ?? standardInputIsTerminal,
    })
    this.#tls = new TlsFiles(config, files, clock)
    const { origin, pathname } = new URL(config.server)
    this.#origin = origin
    this.#basePath = pathname.replace(/\/+$/, '')
    this.#headers = {
      'user-agent': options.userAgent ?? 'tenure',
      ...(config.impersonate && impersonationHeaders(config.impersonate)),
    }
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.signal?.aborted) throw abortReason(request.signal)
    if (this.#closed) throw this.#closedError()
    const got = this.#credentials.get()
    const credential = got instanceof Promise ? await untilAborted(got, request.signal) : got
    const found = this.#connect(credential)
    const open = found instanceof Promise ? await untilAborted(found, request.signal) : found
    const response = await this.#send(request, credential, open)
    return response.status === 401 ? this.#repeatRenewed(request, response, credential, open) : response
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  /** Repeats a request once after a 401, if there are other credentials. */
  async #repeatRenewed(
    request: TransportRequest,
    rejected: TransportResponse,
    credential: Credential,
    open: Open,
  ): Promise<TransportResponse> {
    try {
      const renewed = await untilAborted(this.#credentials.renew(credential), request.signal)
      await untilAborted(this.#tls.check(), request.signal)
      const reopened = await untilAborted(Promise.resolve(this.#connect(renewed)), request.signal)
      if (renewed === credential && reopened === open) return rejected
      rejected.body.cancel()
      return await this.#send(request, renewed, reopened)
    } catch (error) {
      rejected.body.cancel()
      throw error
    }
  }

  #send(request: TransportRequest, credential: Credential, { connections }: Open): Promise<TransportResponse> {
    const { method, body, stream, signal } = request
    const { authorization } = credential
    const path = this.#basePath + request.path
    const headers = { ...this.#headers, ...request.headers, ...(authorization !== undefined && { authorization }) }
    const explain = (error: Error): Error => this.#explain(error, request)
    const streams = stream && body === undefined ? connections.streams : undefined
    if (streams instanceof HttpStreams) return streams.open({ method, path, headers, signal }, explain)
    return new Promise((resolve, reject) => {
      const options: Dispatcher.DispatchOptions = {
        origin: this.#origin,
        path,
        method,
        headers,
        body: body ?? null,
        // By default undici closes the connection after every DELETE with a body, and the client always sends one.
        reset: false,
        // Repeated here: connections through a SOCKS proxy do not inherit the limits of the pool.
        headersTimeout: this.#limits.headersTimeout,
        bodyTimeout: stream ? 0 : this.#limits.bodyTimeout,
      }
      if (signal?.aborted) {
        reject(abortReason(signal))
        return
      }
      try {
        const dispatcher = streams ?? connections.requests()
        dispatcher.dispatch(options, new PooledRequest(resolve, reject, explain, signal))
      } catch (error) {
        reject(explain(asError(error)))
      }
    })
  }

  #explain(error: Error, { method, path }: TransportRequest): Error {
    const failure = connectionFailure(error, this.#config, `${method} ${path}`)
    if (failure instanceof ConnectionError && failure.code.startsWith('TENURE_TLS_')) this.#tls.distrust()
    return failure
  }

  /** The open connections for a credential, or new ones if the certificates have changed. */
  #connect(credential: Credential): Open | Promise<Open> {
    const material = this.#tls.get()
    const open = this.#open
    if (open && open.material === material && open.certificate === credential.certificate) return open
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  /** Always uses the newest credential: callers with an old and a new one would otherwise reopen in turns. */
  async #reopen(): Promise<Open> {
    const material = await this.#tls.get()
    const { certificate } = await this.#credentials.get()
    const before = this.#open
    if (before && before.material === material && before.certificate === certificate) return before
    const own = certificate ? { ca: material.ca, ...certificate } : material
    if (certificate) await validate(own, this.#config.origin)
    const connections = await openConnections(this.#config, own, this.#limits)
    if (this.#closed) {
      await connections.destroy()
      throw this.#closedError()
    }
    this.#open = { material, certificate, connections }
    if (before) this.#retire(before.connections)
    return this.#open
  }

  /** Lets pending requests on old connections finish; new requests use other connections. */
  #retire(connections: Connections): void {
    this.#retired.add(connections)
    // A rejection means that they are already closed.
    void connections.close().then(
      () => this.#retired.delete(connections),
      () => this.#retired.delete(connections),
    )
  }

  async #closeAll(): Promise<void> {
    this.#credentials.close()
    const open = this.#open ? [this.#open.connections] : []
    this.#open = undefined
    await Promise.all([...open, ...this.#retired].map((connections) => connections.destroy()))
  }

  #closedError(): ConnectionError {
    return new ConnectionError(
      'TENURE_TRANSPORT_CLOSED',
      `The connection to the API server ${this.#config.server} (${this.#config.origin}) was closed by this program.`,
      { fate: 'terminal' },
    )
  }
}

/** Rejects when the signal aborts. The work behind the promise continues, because other callers wait for it too. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function standardInputIsTerminal(): boolean {
  return process.stdin.isTTY
}
