import { socketOpener } from './stream/stream-socket.ts'
import { closedError } from './stream/stream-request.ts'
import { HttpStreams } from './stream/http-streams.ts'
import { loadPool, loadProxyAgent } from './undici.ts'
import type { ConnectionConfig } from '../config/connection-config.ts'
import type { TlsMaterial } from './tls.ts'
import type { Dispatcher, Pool, ProxyAgent } from './undici.ts'

export interface ConnectionLimits {
  readonly connections: number
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly keepAliveTimeout: number
  readonly keepAliveProbe: number
}

/** Connections with the same TLS material: short requests share a pool, each stream has its own connection. */
export interface Connections {
  /** Loaded with the first request: a program that only watches does not need the pool. */
  requests(): Dispatcher
  /** undici's dispatcher if there is a proxy, which HttpStreams does not support. */
  readonly streams: Dispatcher | HttpStreams
  /** Accepts no new requests, and resolves when the pending ones have ended. */
  close(): Promise<void>
  /** Aborts all requests. */
  destroy(): Promise<void>
}

export async function openConnections(
  config: ConnectionConfig,
  material: TlsMaterial,
  limits: ConnectionLimits,
): Promise<Connections> {
  const { origin, protocol, host } = new URL(config.server)
  const tls = protocol === 'https:' ? await tlsOptions(config, material) : undefined
  const connect = {
    timeout: limits.connectTimeout,
    keepAlive: true,
    keepAliveInitialDelay: limits.keepAliveProbe,
    ...tls,
  }
  const common = {
    // HTTP/2 is not faster (measured), and undici would delay requests until the protocol is negotiated.
    allowH2: false,
    pipelining: 1,
    headersTimeout: limits.headersTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
  }
  const requests = { ...common, connections: limits.connections, bodyTimeout: limits.bodyTimeout }
  if (config.proxyUrl) {
    const uri = config.proxyUrl.reveal()
    const ProxyAgent = await loadProxyAgent()
    const proxied = (options: Pool.Options): Dispatcher => new ProxyAgent(proxyOptions(uri, options, connect))
    const streams = { ...common, connections: null, bodyTimeout: 0 }
    return new ConnectionSet(() => proxied(requests), proxied(streams))
  }
  const { connectTimeout, headersTimeout, keepAliveProbe } = limits
  const open = await socketOpener({ origin, tls, keepAliveProbe })
  return new ConnectionSet(
    () => new (loadPool())(origin, { ...requests, connect }),
    new HttpStreams({ open, host, connectTimeout, headersTimeout }),
  )
}

class ConnectionSet implements Connections {
  readonly #openRequests: () => Dispatcher
  readonly streams: Dispatcher | HttpStreams
  #requests: Dispatcher | undefined
  #closed = false

  constructor(openRequests: () => Dispatcher, streams: Dispatcher | HttpStreams) {
    this.#openRequests = openRequests
    this.streams = streams
  }

  requests(): Dispatcher {
    if (this.#closed) throw closedError()
    this.#requests ??= this.#openRequests()
    return this.#requests
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#requests?.close(), this.streams.close()])
  }

  async destroy(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#requests?.destroy(), this.streams.destroy()])
  }
}

type Connect = Readonly<Record<string, unknown>> & { readonly timeout: number; readonly keepAliveInitialDelay: number }

function proxyOptions(uri: string, options: Pool.Options, connect: Connect): ProxyAgent.Options {
  const { timeout, keepAliveInitialDelay } = connect
  return {
    ...options,
    uri,
    connectTimeout: timeout,
    proxyTunnel: true,
    requestTls: connect,
    // The connection to the proxy can die half-open. With this option undici would use TLS to a SOCKS proxy.
    ...(!uri.startsWith('socks5:') && { proxyTls: { keepAliveInitialDelay } }),
  }
}

/** One secure context for all connections, so that the PEM files are parsed once. */
async function tlsOptions(config: ConnectionConfig, material: TlsMaterial): Promise<object> {
  const { createSecureContext } = await import('node:tls')
  const { ca, cert, key } = material
  return {
    // As in Go, every certificate of the bundle is trusted, even one that is not an authority.
    secureContext: createSecureContext({ ca, cert, key, allowPartialTrustChain: ca !== undefined }),
    rejectUnauthorized: !config.tls.insecure,
    ...(config.tls.serverName !== undefined && { servername: config.tls.serverName }),
  }
}
