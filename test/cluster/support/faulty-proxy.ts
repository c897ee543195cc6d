import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect } from 'node:tls'

import type { Cluster } from '../cluster.ts'

/**
 * - `forward`: passes everything on.
 * - `bytes`: delivers the server's bytes one at a time.
 * - `hold`: keeps connections open and passes nothing in either direction, like a dead link.
 * - `refuse`: closes connections as soon as they are made.
 */
export type ProxyMode = 'forward' | 'bytes' | 'hold' | 'refuse'

/**
 * A proxy between a client and the API server that injects faults. It uses TLS to the server and plain TCP to the
 * client, so that it splits the HTTP body and not TLS records.
 */
export class FaultyProxy {
  readonly #server: Server
  readonly #cluster: Cluster
  readonly #sockets = new Set<Socket>()
  readonly #held = new Set<Socket>()
  #mode: ProxyMode = 'forward'

  static async start(cluster: Cluster): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(cluster)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client))
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Number of connections on both sides. */
  get connections(): number {
    return this.#sockets.size
  }

  /** Number of held connections. */
  get held(): number {
    return this.#held.size
  }

  /** Changes the mode of new connections. Held connections stay dead. */
  set(mode: ProxyMode): void {
    this.#mode = mode
    if (mode === 'hold') for (const socket of this.#sockets) this.#hold(socket)
    if (mode === 'refuse') this.drop()
  }

  /** Breaks every connection off. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  dropHeld(): void {
    for (const socket of this.#held) socket.destroy()
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.drop()
    await closed
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refuse') {
      client.destroy()
      return
    }
    const { hostname, port } = new URL(this.#cluster.server)
    const { certificate, key } = this.#cluster.admin
    const server = connect({
      host: hostname,
      port: Number(port),
      ca: this.#cluster.certificateAuthority,
      cert: certificate,
      key,
    })
    this.#couple(client, server)
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      if (this.#mode === 'bytes') void this.#deliverBytes(chunk, server, client)
      else client.write(chunk)
    })
    if (this.#mode === 'hold') for (const socket of [client, server]) this.#hold(socket)
  }

  #hold(socket: Socket): void {
    socket.pause()
    this.#held.add(socket)
  }

  /** When one side ends, the other one ends too. */
  #couple(client: Socket, server: Socket): void {
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one)
      one.once('close', () => {
        this.#sockets.delete(one)
        this.#held.delete(one)
        other.destroy()
      })
      // Errors need no handling: both sides see the close that follows.
      one.on('error', () => undefined)
      one.once('end', () => other.end())
    }
  }

  async #deliverBytes(chunk: Buffer, from: Socket, to: Socket): Promise<void> {
    from.pause()
    for (const byte of chunk) {
      if (!to.writable) return
      to.write(Buffer.of(byte))
      // The reader is in this process, so one turn of the event loop delivers the byte separately.
      await nextTurn()
    }
    if (!this.#held.has(from)) from.resume()
  }
}
