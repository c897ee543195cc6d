import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Connections on which nothing was asked yet. Clients open them ahead, browsers and API servers among them, and Node
 * takes them for busy when it closes those that are idle: a server that stops would wait for them in vain. Nor does it
 * close those that have not agreed on TLS yet, not even when it closes all.
 */
export class SilentConnections {
  readonly #sockets = new Set<Socket>()
  /** By where they come from: TLS shows the same connection as another socket. */
  readonly #shakingHands = new Map<string, Socket>()

  /** `server` may speak TLS. If it answers `checkContinue` itself, it must do so by now. */
  constructor(server: Server) {
    const onConnection = (socket: Socket): void => {
      this.#shakingHands.delete(originOf(socket))
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    const onRequest = ({ socket }: IncomingMessage): void => void this.#sockets.delete(socket)
    if ('setSecureContext' in server) {
      server.on('connection', (socket) => this.#shakeHands(socket))
      server.on('secureConnection', onConnection)
    } else {
      server.on('connection', onConnection)
    }
    server.prependListener('request', onRequest)
    // Whoever listens for it has to answer it: not before somebody does.
    if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', onRequest)
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy()
    for (const socket of this.#shakingHands.values()) socket.destroy()
  }

  #shakeHands(socket: Socket): void {
    const origin = originOf(socket)
    this.#shakingHands.set(origin, socket)
    socket.once('close', () => {
      if (this.#shakingHands.get(origin) === socket) this.#shakingHands.delete(origin)
    })
  }
}

function originOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
