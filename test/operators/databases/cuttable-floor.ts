import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { HttpTransport, loadConfig, type Transport } from '@tenure/kube'
import { type Floor, InProcessFloor } from '../../floors/index.ts'

/** A floor whose operators have a connection to the API server that a test can cut. The test's own client keeps another. */
export interface CuttableFloor {
  readonly floor: Floor
  /** Breaks all connections, and lets none be made. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

export async function cuttableFloor(floor: Floor): Promise<CuttableFloor> {
  if (floor instanceof InProcessFloor) {
    const transport = floor.plane.transportFor({})
    return {
      floor: withTransport(floor, transport),
      cut: () => transport.crash(),
      mend: () => transport.revive(),
      close: () => transport.close(),
    }
  }
  const config = await loadConfig({ kubeconfigPath: floor.kubeconfig, env: {} })
  const gate = await Gate.start(new URL(config.server))
  // The certificate names the host, which stays the same.
  const transport = new HttpTransport({ ...config, server: gate.url })
  return {
    floor: withTransport(floor, transport),
    cut: () => gate.shut(),
    mend: () => gate.open(),
    close: async () => {
      await transport.close()
      await gate.close()
    },
  }
}

function withTransport(floor: Floor, transport: Transport): Floor {
  return Object.create(floor, { transport: { value: () => Promise.resolve(transport) } }) as Floor
}

/** A TCP proxy on the server's own host: TLS passes through it. */
class Gate {
  readonly #target: URL
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isOpen = true

  private constructor(target: URL) {
    this.#target = target
    this.#server = createServer((client) => this.#couple(client))
  }

  static async start(target: URL): Promise<Gate> {
    const gate = new Gate(target)
    gate.#server.listen(0, target.hostname)
    await once(gate.#server, 'listening')
    return gate
  }

  get url(): string {
    return `https://${this.#target.hostname}:${(this.#server.address() as AddressInfo).port}`
  }

  shut(): void {
    this.#isOpen = false
    for (const socket of this.#sockets) socket.destroy()
  }

  open(): void {
    this.#isOpen = true
  }

  async close(): Promise<void> {
    this.shut()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #couple(client: Socket): void {
    if (!this.#isOpen) return void client.destroy()
    const server = connect(Number(this.#target.port), this.#target.hostname)
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }
}
