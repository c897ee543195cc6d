import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Connections without a request so far. Browsers and API servers open connections ahead of use. Node does not count
 * them as idle, so a stopping server would wait for them; it also never closes connections that are still in the TLS
 * handshake.
 */
export class UnusedConnections {
  readonly #sockets = new Set<Socket>()
  /** Connections in the TLS handshake, by remote address: after the handshake TLS exposes a different socket object. */
  readonly #handshaking = new Map<string, Socket>()

  /** `server` may use TLS. A `checkContinue` listener must be registered before. */
  constructor(server: Server) {
    const onConnection = (socket: Socket): void => {
      this.#handshaking.delete(originOf(socket))
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    const onRequest = ({ socket }: IncomingMessage): void => void this.#sockets.delete(socket)
    if ('setSecureContext' in server) {
      server.on('connection', (socket) => this.#trackHandshake(socket))
      server.on('secureConnection', onConnection)
    } else {
      server.on('connection', onConnection)
    }
    server.prependListener('request', onRequest)
    // Node answers `100 Continue` itself only while there is no listener, so this must not add the first one.
    if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', onRequest)
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy()
    for (const socket of this.#handshaking.values()) socket.destroy()
  }

  #trackHandshake(socket: Socket): void {
    const origin = originOf(socket)
    this.#handshaking.set(origin, socket)
    socket.once('close', () => {
      if (this.#handshaking.get(origin) === socket) this.#handshaking.delete(origin)
    })
  }
}

function originOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
