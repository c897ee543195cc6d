import type { Socket } from 'node:net'

export interface SocketOptions {
  /** Scheme, host and port of the server. */
  readonly origin: string
  /** Further options of `tls.connect`. Undefined for http. */
  readonly tls: object | undefined
  /** Milliseconds without data before TCP keep-alive probes start. */
  readonly keepAliveProbe: number
}

/**
 * Opens a connection. `onRead` receives the first `length` bytes of a buffer that the next read overwrites. `onReady` is
 * called when the connection, including TLS, is established.
 */
export type OpenSocket = (onRead: (bytes: Buffer, length: number) => void, onReady: () => void) => Socket

/** Loads node:tls only for https. */
export async function socketOpener({ origin, tls, keepAliveProbe }: SocketOptions): Promise<OpenSocket> {
  const { protocol, hostname, port } = new URL(origin)
  const net = await import('node:net')
  const secure = protocol === 'https:' ? await import('node:tls') : undefined
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  // All sockets share one buffer: reads do not overlap, and the bytes are copied at once.
  const buffer = Buffer.allocUnsafeSlow(64 * 1024)
  const address = { host, port: Number(port) || (secure ? 443 : 80) }
  // An IP address is not a valid server name.
  const serverName = net.isIP(host) === 0 ? { servername: host } : {}
  return (onRead, onReady) => {
    const callback = (size: number): boolean => {
      onRead(buffer, size)
      return true
    }
    const options = { ...address, onread: { buffer, callback } }
    const socket = secure
      ? secure.connect({ ...options, ALPNProtocols: ['http/1.1'], ...serverName, ...tls }, onReady)
      : net.connect(options, onReady)
    socket.setKeepAlive(true, keepAliveProbe)
    return socket
  }
}
