/** Connects the API server to Services: nothing routes their addresses here, because no kube-proxy and no pods run. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import type { Duplex } from 'node:stream'

/** An HTTP CONNECT proxy through which the API server calls the webhooks of Services. */
export class ServiceProxy {
  readonly #directory: string
  /** Local ports by address: `10.0.3.7:443`. */
  readonly #routes = new Map<string, number>()
  readonly #sockets = new Set<Duplex>()
  readonly #server = createServer()

  private constructor(directory: string) {
    this.#directory = directory
    this.#server.on('connect', ({ url = '' }, client: Duplex) => this.#tunnel(url, client))
  }

  /** The proxy listens on a socket in the folder. */
  static async open(directory: string): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(directory)
    const transport = { uds: { udsName: proxy.#socket } }
    const config = {
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport } }],
    }
    await writeFile(proxy.#config, JSON.stringify(config))
    proxy.#server.listen(proxy.#socket)
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Flags of the API server. */
  get flags(): readonly string[] {
    return [`--egress-selector-config-file=${this.#config}`]
  }

  /** Lets connections to an address of a Service reach a port of this machine. */
  route(address: string, port: number): void {
    this.#routes.set(address, port)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  get #config(): string {
    return path.join(this.#directory, 'egress.json')
  }

  get #socket(): string {
    return path.join(this.#directory, 'egress.sock')
  }

  #tunnel(address: string, client: Duplex): void {
    this.#keep(client)
    const port = this.#routes.get(address)
    if (port === undefined) return void client.end('HTTP/1.1 502 No route\r\n\r\n')
    const target: Socket = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n')
      client.pipe(target).pipe(client)
    })
    this.#keep(target)
    client.once('close', () => target.destroy())
    target.once('close', () => client.destroy())
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
