import type { Socket } from 'node:net'

export interface SocketOptions {
  /** Scheme, host and port of the server. */
  readonly origin: string
  /** What `tls.connect` takes beside them. Undefined for http. */
  readonly tls: object | undefined
  /** Milliseconds of silence after which TCP asks whether the other side is still there. */
  readonly keepAliveProbe: number
}

/**
 * Opens a connection. `onRead` gets what is read: the first `length` bytes, which the next read overwrites. `onReady` is
 * called when the connection, with TLS, stands.
 */
export type OpenSocket = (onRead: (bytes: Buffer, length: number) => void, onReady: () => void) => Socket

/** TLS is loaded only where it is spoken. */
export async function socketOpener({ origin, tls, keepAliveProbe }: SocketOptions): Promise<OpenSocket> {
  const { protocol, hostname, port } = new URL(origin)
  const net = await import('node:net')
  const secure = protocol === 'https:' ? await import('node:tls') : undefined
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  // Sockets read one after the other and what they read is copied out at once, so all can share it.
  const buffer = Buffer.allocUnsafeSlow(64 * 1024)
  const address = { host, port: Number(port) || (secure ? 443 : 80) }
  // An IP address is no server name.
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
