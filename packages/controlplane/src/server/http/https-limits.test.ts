import { constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { Client } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { afterEach, expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'
import type { HttpsLimits } from './https-limits.ts'
import { connectRaw, END_STREAM, FRAME, frame, headerBlock, type RawConnection, RawHttp2 } from './raw-http2.testing.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const POLL = { timeout: 15_000 }
const KIBIBYTE = 1024

let plane: ControlPlane | undefined
const open: Socket[] = []

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy()
  await plane?.stop()
})

interface Served {
  readonly url: string
  readonly authorization: string
  readonly api: Client
}

async function serve(limits: Partial<HttpsLimits> = {}): Promise<Served> {
  plane = await startControlPlane({ port: 0, controllers: false, limits })
  const api = new Client({ transport: plane.transport })
  return { url: plane.url ?? '', authorization: `Bearer ${plane.token}`, api }
}

async function http1(url: string): Promise<RawConnection & { text: string }> {
  const connection = { ...(await connectRaw(url, 'http/1.1')), text: '' }
  connection.tls.on('data', (data: Buffer) => (connection.text += data.toString()))
  open.push(connection.tcp)
  return connection
}

async function http2(url: string): Promise<RawHttp2> {
  const client = await RawHttp2.open(url)
  open.push(client.connection.tcp)
  return client
}

const target = (method: string, path: string): Record<string, string> => ({
  ':method': method,
  ':path': path,
  ':scheme': 'https',
  ':authority': 'a',
})

/** Status codes of the responses so far, by stream. The server sends `:status` uncompressed or from the static table. */
function statuses(client: RawHttp2): Map<number, string> {
  const STATIC: Readonly<Record<number, string>> = { 0x88: '200', 0x8c: '400', 0x8d: '404' }
  return new Map(
    client.frames
      .filter(({ type }) => type === FRAME.headers)
      .map(({ stream, payload }) => [stream, STATIC[payload[0] ?? 0] ?? 'other']),
  )
}

const isAnswered = (client: RawHttp2, stream: number): boolean => statuses(client).has(stream)

async function isAlive(url: string): Promise<boolean> {
  const connection = await http1(url)
  connection.tls.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await expect.poll(() => connection.text, POLL).toContain('200 OK')
  connection.tcp.destroy()
  return true
}

test('a request that is not authorized gets its response before its body is sent', async () => {
  const { url } = await serve()
  for (const authorization of ['', 'authorization: Bearer wrong\r\n']) {
    const connection = await http1(url)
    connection.tls.write(`POST ${MAPS} HTTP/1.1\r\nhost: a\r\n${authorization}transfer-encoding: chunked\r\n\r\n`)
    await expect.poll(() => connection.text, POLL).toContain(authorization ? '401 Unauthorized' : '403 Forbidden')
  }
  for (const authorization of ['', 'Bearer wrong']) {
    const client = await http2(url)
    client.headers(1, { ...target('POST', MAPS), ...(authorization && { authorization }) })
    await client.until(() => isAnswered(client, 1))
    // The rest of the body is refused, and the client does not keep its session.
    await client.until(() => client.frames.some(({ type, stream }) => type === FRAME.reset && stream === 1))
    await client.until(() => client.frames.some(({ type }) => type === FRAME.goAway))
  }
})

test('the bodies of one connection, and of all, are bounded in memory', async () => {
  const limits = { connectionBufferedBytes: 300 * KIBIBYTE, bufferedBytes: 500 * KIBIBYTE }
  const { url, authorization, api } = await serve(limits)
  const part = 'x'.repeat(16 * KIBIBYTE)
  const begin = (client: RawHttp2, stream: number): void => {
    client.headers(stream, { ...target('POST', MAPS), authorization, 'content-type': 'application/json' })
    for (let times = 0; times < 8; times++) client.data(stream, part)
  }
  const first = await http2(url)
  // 128 KiB each: the third is above the limit of the connection.
  for (const stream of [1, 3, 5]) begin(first, stream)
  await first.until(() => isAnswered(first, 5))
  expect([...statuses(first).keys()]).toEqual([5])
  const second = await http2(url)
  // 256 KiB are held for the first: the second body of the second connection is above the limit of all.
  for (const stream of [1, 3]) begin(second, stream)
  await second.until(() => isAnswered(second, 3))
  expect([...statuses(second).keys()]).toEqual([3])
  first.connection.tcp.destroy()
  second.connection.tcp.destroy()
  // Their bytes are given back.
  const third = await http2(url)
  await expect.poll(() => isAlive(url), POLL).toBe(true)
  const body = JSON.stringify({ metadata: { name: 'large' }, data: { a: 'x'.repeat(60_000) } })
  third.headers(1, { ...target('POST', MAPS), authorization, 'content-type': 'application/json' })
  third.data(1, body.slice(0, 16_000))
  for (let at = 16_000; at < body.length; at += 16_000) third.data(1, body.slice(at, at + 16_000))
  third.data(1, '', END_STREAM)
  await third.until(() => isAnswered(third, 1))
  expect(await api.get(ConfigMap, { name: 'large', namespace: 'default' })).toBeDefined()
})

test('a body that does not arrive in time is refused', async () => {
  const { url, authorization } = await serve({ headersTimeout: 300, bodyTimeout: 300 })
  const client = await http2(url)
  client.headers(1, { ...target('POST', MAPS), authorization, 'content-type': 'application/json' })
  client.data(1, '{')
  await client.until(() => isAnswered(client, 1))
  const connection = await http1(url)
  const head = `POST ${MAPS} HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\ncontent-length: 9\r\n\r\n`
  connection.tls.write(`${head}{`)
  await expect.poll(() => connection.text, POLL).toContain('HTTP/1.1 408')
})

test('connections without a request are closed, and watches stay open', async () => {
  const { url, authorization, api } = await serve({
    handshakeTimeout: 300,
    headersTimeout: 300,
    bodyTimeout: 300,
    idleTimeout: 300,
    stallTimeout: 300,
  })
  const watchPath = `${MAPS}?watch=true`
  const watch2 = await http2(url)
  watch2.headers(1, { ...target('GET', watchPath), authorization }, END_STREAM)
  const watch1 = await http1(url)
  watch1.tls.write(`GET ${watchPath} HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`)
  await expect.poll(() => watch1.text, POLL).toContain('200 OK')
  const { hostname, port } = new URL(url)
  // No handshake; no request in either protocol; no request after the first.
  const silent = connectTcp(Number(port), hostname)
  open.push(silent)
  const unused = await Promise.all([connectRaw(url, 'h2'), connectRaw(url, 'http/1.1')])
  const used1 = await http1(url)
  used1.tls.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')
  const used2 = await http2(url)
  used2.headers(1, { ...target('GET', '/livez'), authorization }, END_STREAM)
  const idle = [silent, ...unused.map(({ tls }) => tls), used1.tls, used2.connection.tls]
  for (const socket of idle) socket.resume()
  await expect.poll(() => idle.map((socket) => socket.closed), POLL).toEqual(idle.map(() => true))
  await api.create(ConfigMap, { metadata: { name: 'late', namespace: 'default' } })
  await expect.poll(() => watch1.text, POLL).toContain('"late"')
  const received = (): string => watch2.frames.map(({ payload }) => payload.toString()).join('')
  await expect.poll(received, POLL).toContain('"late"')
})

test('a client that does not read a long response is disconnected', async () => {
  const { url, authorization, api } = await serve({ stallTimeout: 300 })
  const data = { a: 'x'.repeat(500_000) }
  for (let index = 0; index < 20; index++) {
    await api.create(ConfigMap, { metadata: { name: `m-${index}`, namespace: 'default' }, data })
  }
  const stuck = await http1(url)
  const closed = new Promise((resolve) => stuck.tls.once('close', resolve))
  stuck.tls.write(`GET ${MAPS} HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`)
  stuck.tls.pause()
  // The default window of 64 KiB is never updated.
  for (let times = 0; times < 2; times++) {
    const stuck2 = await http2(url)
    stuck2.headers(1, { ...target('GET', MAPS), authorization }, END_STREAM)
    await stuck2.until(() => stuck2.frames.some(({ type, stream }) => type === FRAME.reset && stream === 1))
  }
  // The first has waited for longer than the others.
  stuck.tls.resume()
  await closed
  expect(stuck.text.length).toBeLessThan(10_000_000)
})

test('idle connections do not shut out probes and authenticated clients, whose watches stay', async () => {
  const { url, authorization, api } = await serve({ connections: 20, reservedConnections: 5 })
  const watching = await http1(url)
  watching.tls.write(`GET ${MAPS}?watch=true HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`)
  await expect.poll(() => watching.text, POLL).toContain('200 OK')
  const { hostname, port } = new URL(url)
  for (let index = 0; index < 40; index++) {
    const idle = index % 2 === 0 ? connectTcp(Number(port), hostname) : (await connectRaw(url, 'h2')).tcp
    idle.on('error', () => undefined)
    open.push(idle)
  }
  expect(await isAlive(url)).toBe(true)
  await api.create(ConfigMap, { metadata: { name: 'seen', namespace: 'default' } })
  await expect.poll(() => watching.text, POLL).toContain('"seen"')
})

test('authenticated clients leave connections to probes', async () => {
  const { url, authorization } = await serve({ connections: 10, reservedConnections: 4 })
  const request = `GET /version HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`
  const seen: string[] = []
  for (let index = 0; index < 8; index++) {
    const connection = await http1(url)
    connection.tls.write(request)
    await expect.poll(() => connection.text, POLL).toContain('HTTP/1.1')
    seen.push(connection.text.slice(9, 12))
  }
  expect(seen).toEqual(['200', '200', '200', '200', '200', '200', '429', '429'])
  for (let index = 0; index < 20; index++) expect(await isAlive(url)).toBe(true)
})

/** Each sends what no client needs to send, until the server ends the connection. */
const FLOODS: Readonly<Record<string, (authorization: string) => Buffer>> = {
  'streams that are reset at once': (authorization) =>
    Buffer.concat(
      Array.from({ length: 5_000 }, (_, index) => {
        const reset = Buffer.alloc(4)
        reset.writeUInt32BE(constants.NGHTTP2_CANCEL)
        const headers = headerBlock({ ...target('GET', MAPS), authorization })
        return Buffer.concat([
          frame(FRAME.headers, END_STREAM | 4, 2 * index + 1, headers),
          frame(FRAME.reset, 0, 2 * index + 1, reset),
        ])
      }),
    ),
  'headers without end': () =>
    Buffer.concat([
      frame(FRAME.headers, END_STREAM, 1, headerBlock(target('GET', '/livez'))),
      ...Array.from({ length: 2_000 }, (_, index) =>
        frame(FRAME.continuation, 0, 1, headerBlock({ [`x-${index}`]: 'y'.repeat(1_000) })),
      ),
    ]),
  'settings with too many entries': () => frame(FRAME.settings, 0, 0, Buffer.alloc(6 * 2_000, '\0\u0003\0\0\0\u0001')),
}

test.each(Object.keys(FLOODS))('%s end the connection and not the server', async (name) => {
  const { url, authorization } = await serve()
  const client = await http2(url)
  const closed = new Promise((resolve) => client.connection.tls.once('close', resolve))
  client.connection.tls.write(FLOODS[name]?.(authorization) ?? '')
  await closed
  expect(await isAlive(url)).toBe(true)
})

test.each([
  ['pings', FRAME.ping, 8],
  ['settings', FRAME.settings, 0],
] as const)('a client that sends %s and reads no response does not make the server grow', async (_, type, length) => {
  const { url } = await serve()
  const client = await http2(url)
  client.connection.tls.pause()
  const flood = Buffer.concat(Array.from({ length: 20_000 }, () => frame(type, 0, 0, Buffer.alloc(length))))
  const { tls } = client.connection
  const closed = new Promise<void>((resolve) => tls.once('close', () => resolve()))
  const before = process.memoryUsage().rss
  for (let round = 0; round < 50 && !tls.closed; round++) {
    if (!tls.write(flood)) await Promise.race([closed, isAlive(url)])
  }
  client.connection.tcp.destroy()
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * KIBIBYTE * KIBIBYTE)
  expect(await isAlive(url)).toBe(true)
})

test('headers that are too large are refused over both protocols', async () => {
  const { url, authorization } = await serve({ headerBytes: 8_192 })
  const client = await http2(url)
  client.headers(1, { ...target('GET', '/livez'), authorization, 'x-large': 'y'.repeat(12_000) }, END_STREAM)
  await client.until(() => client.frames.some(({ type, stream }) => type === FRAME.reset && stream === 1))
  client.headers(3, { ...target('GET', '/livez'), authorization }, END_STREAM)
  await client.until(() => isAnswered(client, 3))
  expect(isAnswered(client, 1)).toBe(false)
  const connection = await http1(url)
  connection.tls.write(`GET /livez HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(12_000)}\r\n\r\n`)
  await expect.poll(() => connection.text, POLL).toContain('HTTP/1.1 431')
})
