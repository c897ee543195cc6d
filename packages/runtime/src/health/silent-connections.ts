import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Connections on which nothing was asked yet. Clients open them ahead, browsers and API servers among them, and Node
 * takes them for busy when it closes those that are idle: a server that stops would wait for them in vain.
 */
export class SilentConnections {
  readonly #sockets = new Set<Socket>()

  /** `server` may speak TLS. If it answers `checkContinue` itself, it must do so by now. */
  constructor(server: Server) {
    const onConnection = (socket: Socket): void => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    const onRequest = ({ socket }: IncomingMessage): void => void this.#sockets.delete(socket)
    server.on('setSecureContext' in server ? 'secureConnection' : 'connection', onConnection)
    server.prependListener('request', onRequest)
    // Whoever listens for it has to answer it: not before somebody does.
    if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', onRequest)
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}
