import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect } from 'node:tls'

import type { Cluster } from '../cluster.ts'

/**
 * - `forward`: as if it were not there.
 * - `bytes`: what the server sends arrives one byte at a time.
 * - `hold`: connections stay open, and nothing passes in either direction: half-open, as behind a dead link.
 * - `refuse`: connections are closed as soon as they are made.
 */
export type ProxyMode = 'forward' | 'bytes' | 'hold' | 'refuse'

/**
 * Stands between a client and the API server, and spoils the connection. It speaks TLS to the server and none to the
 * client, so that it is the HTTP body it cuts up and not the TLS records around it.
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

  /** How many connections there are, on both sides. */
  get connections(): number {
    return this.#sockets.size
  }

  /** How many of them are held. */
  get held(): number {
    return this.#held.size
  }

  /** From now on. Connections that were held stay dead: only new ones take part. */
  set(mode: ProxyMode): void {
    this.#mode = mode
    if (mode === 'hold') for (const socket of this.#sockets) this.#hold(socket)
    if (mode === 'refuse') this.drop()
  }

  /** Breaks every connection off, in the middle of whatever it was about. */
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

  /** What ends one ends the other. */
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
      // The client's own doing, or ours: both sides see the close that follows.
      one.on('error', () => undefined)
      one.once('end', () => other.end())
    }
  }

  async #deliverBytes(chunk: Buffer, from: Socket, to: Socket): Promise<void> {
    from.pause()
    for (const byte of chunk) {
      if (!to.writable) return
      to.write(Buffer.of(byte))
      // The reader is in this process: one turn of the loop is enough for it to take the byte by itself.
      await nextTurn()
    }
    if (!this.#held.has(from)) from.resume()
  }
}
