import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connectTo } from '../../config/connection-config.ts'
import { caught, open, watch } from '../testdata/harness.ts'
import { startPlainServer } from '../testdata/servers.ts'
import type { AddressInfo } from 'node:net'
import type { HttpTransport, HttpTransportOptions } from '../http-transport.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server that calls `respond` with the first bytes of every connection. */
async function talking(
  respond: (socket: Socket, request: string) => void,
  options: HttpTransportOptions = {},
): Promise<HttpTransport> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bytes: Buffer) => respond(socket, bytes.toString()))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return open(connectTo({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base` }), options)
}

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

describe('a stream', () => {
  test('the request is valid HTTP, and invalid characters are rejected', async () => {
    let seen = ''
    const transport = await talking((socket, request) => {
      seen = request
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
    await (await transport.request({ ...watch, headers: { accept: 'a/b' } })).body.text()
    expect(seen).toMatch(
      /^GET \/base\/watch HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nuser-agent: tenure\r\naccept: a\/b\r\n\r\n$/,
    )
    for (const bad of [
      { path: '/a b' },
      { path: '/a\r\nx: y' },
      { headers: { x: 'a\r\nb: c' } },
      { headers: { 'x y': '' } },
    ]) {
      await expect(transport.request({ ...watch, ...bad })).rejects.toMatchObject({
        code: 'TENURE_REQUEST_INVALID',
        fate: 'terminal',
      })
    }
  })

  test('slow and fast readers get every byte, however the response is cut', async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `${index} ${'ä'.repeat((index * 37) % 900)}\n`)
    const transport = await talking((socket) => {
      const bytes = Buffer.from(
        HEAD + lines.map((line) => `${Buffer.byteLength(line).toString(16)}\r\n${line}\r\n`).join('') + '0\r\n\r\n',
      )
      socket.setNoDelay(true)
      let at = 0
      const more = (): void => {
        const size = 1 + ((at * 31) % 5000)
        socket.write(bytes.subarray(at, at + size))
        at += size
        if (at < bytes.length) setImmediate(more)
      }
      more()
    })
    for (const isSlow of [false, true]) {
      const { body } = await transport.request(watch)
      let text = Buffer.alloc(0)
      for await (const chunk of body) {
        text = Buffer.concat([text, chunk])
        if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1))
      }
      expect(text.toString()).toBe(lines.join(''))
    }
  })

  test('bytes before a break are returned before the error', async () => {
    const transport = await talking((socket) => socket.end(`${HEAD}5\r\nfirst\r\n6\r\nsec`))
    const chunks = (await transport.request(watch)).body[Symbol.asyncIterator]()
    let text = ''
    const failure = await caught(
      (async () => {
        for (;;) text += Buffer.from((await chunks.next()).value ?? []).toString()
      })(),
    )
    expect(text).toBe('firstsec')
    expect(failure).toMatchObject({ code: 'TENURE_CONNECTION_BROKEN', fate: 'retry' })
    await expect(chunks.next()).rejects.toBe(failure)
  })

  test('data that is not HTTP fails the stream and frees the connection', async () => {
    let closed = false
    const transport = await talking((socket) => {
      socket.on('close', () => (closed = true))
      socket.write('220 mail.example.com ESMTP\r\n\r\n')
    })
    await expect(transport.request(watch)).rejects.toMatchObject({ code: 'TENURE_CONNECTION_BROKEN' })
    await vi.waitFor(() => expect(closed).toBe(true))
  })

  test('a silent server times out before and after the connection is open', async () => {
    const transport = await talking(() => undefined, { headersTimeout: 50 })
    await expect(transport.request(watch)).rejects.toMatchObject({ code: 'TENURE_CONNECTION_TIMEOUT' })
    const mute = createServer((socket) => void socket.on('error', () => undefined).resume())
    servers.push(mute)
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const server = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`
    const tls = open(connectTo({ server, insecure: true }), { connectTimeout: 50 })
    await expect(tls.request(watch)).rejects.toMatchObject({ code: 'TENURE_CONNECTION_UNREACHABLE' })
  })

  test('an abort ends the stream before, during and after the headers', async () => {
    const transport = await talking((socket, request) => {
      if (request.includes('/head')) socket.write(`${HEAD}1\r\na\r\n`)
    })
    const early = AbortSignal.abort(new Error('early'))
    await expect(transport.request({ ...watch, signal: early })).rejects.toThrow('early')
    const silent = new AbortController()
    const waiting = caught(transport.request({ ...watch, signal: silent.signal }))
    silent.abort(new Error('silent'))
    expect(await waiting).toMatchObject({ message: 'silent' })
    const late = new AbortController()
    const { body } = await transport.request({ ...watch, path: '/head', signal: late.signal })
    const reading = caught(body.text())
    late.abort(new Error('late'))
    expect(await reading).toMatchObject({ message: 'late' })
  })

  test('a cancelled text rejects, and a second reader is rejected', async () => {
    const transport = await talking((socket) => socket.write(`${HEAD}1\r\na\r\n`))
    const first = (await transport.request(watch)).body
    const reading = caught(first.text())
    first.cancel()
    expect(await reading).toMatchObject({ message: 'The response was cancelled before its end' })
    const chunks = (await transport.request(watch)).body[Symbol.asyncIterator]()
    await chunks.next()
    const pending = caught(chunks.next())
    await expect(chunks.next()).rejects.toThrow(/one reader/)
    await transport.close()
    expect(await pending).toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED' })
  })

  test('an error response can be read', async () => {
    const server = await startPlainServer((_request, response) => response.writeHead(403).end('no'))
    const transport = open(connectTo({ server: `http://localhost:${server.port}` }))
    const response = await transport.request(watch).catch(() => transport.request(watch))
    expect([response.status, await response.body.text()]).toEqual([403, 'no'])
    await server.close()
  })
})
