import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { connect, createServer as createTcpServer } from 'node:net'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket, Server as TcpServer } from 'node:net'
import type { ServerOptions } from 'node:https'

/** A PEM file of this folder. Its certificates are valid until 2120, except `expired`. */
export function pem(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

export interface TestServer {
  readonly port: number
  /** `METHOD path` in order of arrival. */
  readonly requests: readonly string[]
  readonly sockets: ReadonlySet<Socket>
  /** Number of connections since the start. */
  readonly connections: () => number
  close(): Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** An HTTPS server on loopback; `certificate` names its files in this folder. */
export function startServer(
  handler: Handler,
  certificate = 'server',
  options: ServerOptions = {},
): Promise<TestServer> {
  const requests: string[] = []
  const server = createServer(
    { cert: pem(`${certificate}.pem`), key: pem(`${certificate}.key`), ...options },
    collect(handler, requests),
  )
  server.keepAliveTimeout = 60_000
  return listen(server, requests)
}

export function startPlainServer(handler: Handler): Promise<TestServer> {
  const requests: string[] = []
  return listen(createHttpServer(collect(handler, requests)), requests)
}

/** An HTTP proxy that opens tunnels; `authorize` returns the status for a CONNECT. */
export function startProxy(authorize: (request: IncomingMessage) => number = () => 200): Promise<TestServer> {
  const requests: string[] = []
  const server = createHttpServer()
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    requests.push(`CONNECT ${request.url}`)
    const status = authorize(request)
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const { hostname, port } = new URL(`http://${request.url}`)
    const upstream = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    join(client, upstream)
  })
  return listen(server, requests)
}

/** A SOCKS5 proxy without authentication, for IPv4 addresses. */
export function startSocks(): Promise<TestServer> {
  const requests: string[] = []
  const server = createTcpServer((client) => {
    client.once('data', () => {
      client.write(Buffer.from([5, 0]))
      client.once('data', (ask: Buffer) => {
        const host = ask.subarray(4, 8).join('.')
        const port = ask.readUInt16BE(8)
        requests.push(`SOCKS ${host}:${port}`)
        const upstream = connect(port, host, () => client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])))
        join(client, upstream)
      })
    })
  })
  return listen(server, requests)
}

function collect(handler: Handler, requests: string[]): RequestListener {
  return (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => handler(request, response, body))
  }
}

function join(a: Socket, b: Socket): void {
  a.pipe(b)
  b.pipe(a)
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
}

async function listen(server: TcpServer | Server, requests: string[]): Promise<TestServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    sockets,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
