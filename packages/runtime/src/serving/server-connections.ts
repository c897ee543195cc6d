import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

export interface ServerConnectionsOptions {
  /** Maximum number of connections. */
  readonly max: number
  /** How many of them are never kept, so that new callers and probes always find room. Default 0. */
  readonly reserve?: number
}

type Endpoint = Pick<Socket, 'remoteAddress' | 'remotePort'>

interface Connection {
  readonly socket: Socket
  /** Requests in flight. */
  pending: number
  isKept: boolean
}

/**
 * The connections of a server, at most `max`. At the limit a new connection replaces the one that was idle for the
 * longest time, or else the one whose request began first: connections that are held open for nothing do not shut out
 * new callers. Kept connections (of authenticated callers, and streams) are not replaced.
 *
 * Node counts connections without a request so far neither as idle nor as active, and never closes those in the TLS
 * handshake when a server stops; `closeIdle` does.
 */
export class ServerConnections {
  readonly #options: ServerConnectionsOptions
  /**
   * By remote address, because after the handshake TLS exposes a different socket object. In the order of their last
   * use.
   */
  readonly #connections = new Map<string, Connection>()
  #kept = 0

  constructor(server: Server, options: ServerConnectionsOptions) {
    this.#options = options
    server.on('connection', (socket: Socket) => this.#add(socket))
  }

  get size(): number {
    return this.#connections.size
  }

  /** Follows the requests of an HTTP/1.1 server. A `checkContinue` listener must be registered before. */
  followRequests(server: Server): void {
    const onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
      response.once('close', this.begin(socket))
    }
    server.prependListener('request', onRequest)
    // Node answers `100 Continue` itself only while there is no listener, so this must not add the first one.
    if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', onRequest)
  }

  /** A request begins; the returned function says that it has ended. */
  begin(endpoint: Endpoint): () => void {
    const key = keyOf(endpoint)
    const connection = this.#use(key)
    if (!connection) return () => undefined
    connection.pending++
    return () => {
      connection.pending--
      if (this.#connections.get(key) === connection) this.#use(key)
    }
  }

  /** Keeps a connection until it ends. False if no more may be kept. */
  keep(endpoint: Endpoint): boolean {
    const connection = this.#connections.get(keyOf(endpoint))
    if (!connection || connection.isKept) return true
    if (this.#kept >= this.#options.max - (this.#options.reserve ?? 0)) return false
    this.#kept++
    connection.isKept = true
    return true
  }

  closeIdle(): void {
    for (const { socket, pending } of this.#connections.values()) if (pending === 0) socket.destroy()
  }

  closeAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #add(socket: Socket): void {
    const key = keyOf(socket)
    if (this.#connections.size >= this.#options.max) {
      const replaced = this.#leastUseful()
      if (!replaced) return void socket.destroy()
      this.#remove(...replaced)
      replaced[1].socket.destroy()
    }
    const connection = { socket, pending: 0, isKept: false }
    this.#connections.set(key, connection)
    socket.once('close', () => this.#remove(key, connection))
  }

  #remove(key: string, connection: Connection): void {
    if (this.#connections.get(key) !== connection) return
    this.#connections.delete(key)
    if (connection.isKept) this.#kept--
  }

  #leastUseful(): [string, Connection] | undefined {
    let busy: [string, Connection] | undefined
    for (const entry of this.#connections) {
      if (entry[1].isKept) continue
      if (entry[1].pending === 0) return entry
      busy ??= entry
    }
    return busy
  }

  /** Moves a connection to the end of the order. */
  #use(key: string): Connection | undefined {
    const connection = this.#connections.get(key)
    if (!connection) return undefined
    this.#connections.delete(key)
    this.#connections.set(key, connection)
    return connection
  }
}

function keyOf({ remoteAddress, remotePort }: Endpoint): string {
  return `${remoteAddress} ${remotePort}`
}
