import { loadPool, loadProxyAgent } from './http-transport-undici.ts'
import type { ConnectionConfig } from './config/connection-config.ts'
import type { TlsMaterial } from './http-transport-tls.ts'
import type { Dispatcher, Pool, ProxyAgent } from './http-transport-undici.ts'

export interface ConnectionLimits {
  readonly connections: number
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly keepAliveTimeout: number
  readonly keepAliveProbe: number
}

/** Two sets of connections with the same TLS material: many short requests share a few, each stream has its own. */
export interface Connections {
  readonly requests: Dispatcher
  readonly streams: Dispatcher
}

export async function openConnections(
  config: ConnectionConfig,
  material: TlsMaterial,
  limits: ConnectionLimits,
): Promise<Connections> {
  const { origin, protocol } = new URL(config.server)
  const connect = {
    timeout: limits.connectTimeout,
    keepAlive: true,
    keepAliveInitialDelay: limits.keepAliveProbe,
    ...(protocol === 'https:' && (await tlsOptions(config, material))),
  }
  const common = {
    // HTTP/2 was measured to be no faster, and undici would hold requests back until it knows whether it is spoken.
    allowH2: false,
    pipelining: 1,
    headersTimeout: limits.headersTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
  }
  const requests = { ...common, connections: limits.connections, bodyTimeout: limits.bodyTimeout }
  const streams = { ...common, connections: null, bodyTimeout: 0 }
  if (config.proxyUrl) {
    const uri = config.proxyUrl.reveal()
    const ProxyAgent = await loadProxyAgent()
    const proxied = (options: Pool.Options): Dispatcher => new ProxyAgent(proxyOptions(uri, options, connect))
    return { requests: proxied(requests), streams: proxied(streams) }
  }
  const Pool = loadPool()
  return { requests: new Pool(origin, { ...requests, connect }), streams: new Pool(origin, { ...streams, connect }) }
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
    // The connection that can die half-open is the one to the proxy. (With these, undici would speak TLS to a SOCKS proxy.)
    ...(!uri.startsWith('socks5:') && { proxyTls: { keepAliveInitialDelay } }),
  }
}

/** One secure context for all connections, so that the PEMs are parsed once and not for each. */
async function tlsOptions(config: ConnectionConfig, material: TlsMaterial): Promise<object> {
  const { createSecureContext } = await import('node:tls')
  const { ca, cert, key } = material
  return {
    secureContext: createSecureContext({ ca, cert, key }),
    rejectUnauthorized: !config.tls.insecure,
    ...(config.tls.serverName !== undefined && { servername: config.tls.serverName }),
  }
}
