import { connect } from 'node:net'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { HttpResponse } from '../routes/response.ts'
import { json, text } from '../routes/response.ts'
import { HttpError } from '../errors/http-error.ts'
import type { Route } from '../routes/route.ts'
import { route } from '../routes/route.ts'
import { call, closeAll, serving } from './server.testing.ts'

/** Generous for slow machines: polling ends with its condition. */
const POLL = { timeout: 15_000 }

afterEach(closeAll)

const NAMED = z.object({ name: z.string().max(63) })
let handled = 0
let read = 0

const routes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/things/:name',
    summary: 'One thing',
    params: NAMED,
    query: z.object({ limit: z.string().regex(/^\d+$/, 'Expected a whole number').optional() }),
    indent: 2,
    responses: { 200: { description: 'It', schema: z.object({ name: z.string() }) } },
    handle: ({ params, query }) => json(200, { name: params.name, ...query }),
  }),
  route({
    method: 'PUT',
    path: '/things/:name',
    summary: 'Change a thing',
    params: NAMED,
    body: z.object({ size: z.int().min(0) }),
    before: ({ params }) => (params.name === 'none' ? json(404, { error: 'No such thing' }) : undefined),
    responses: { 200: { description: 'Changed' } },
    handle: ({ body }) => {
      read++
      return json(200, body)
    },
  }),
  route({
    method: 'POST',
    path: '/echo',
    summary: 'Says it again',
    responses: { 200: { description: 'The body' } },
    handle: ({ body }) => json(200, { body }),
  }),
  route({
    method: 'GET',
    path: '/fails/:how',
    summary: 'Fails',
    params: z.object({ how: z.string() }),
    responses: {},
    handle: ({ params, signal }) => {
      if (params.how === 'bug') throw new TypeError('secret of the house')
      if (params.how === 'hangs') {
        handled++
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('late'))))
      }
      throw new HttpError('TENURE_HTTP_INVALID', 409, 'Not now')
    },
  }),
  route({
    method: 'GET',
    path: '/shaped',
    summary: 'Has its own way of failing',
    responses: {},
    handle: () => {
      throw new HttpError('TENURE_HTTP_INVALID', 400, 'wrong')
    },
    shapeFailure: ({ status, message }) => text(status, `oh: ${message}`),
  }),
]

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => (text += String(chunk)))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

describe('responses', () => {
  test('JSON is indented as the route says, and HEAD is served', async () => {
    const { url } = (await serving(routes)).listening
    const got = await call(`${url}/things/a?limit=3`)
    expect(got).toMatchObject({ status: 200, json: { name: 'a', limit: '3' } })
    expect(got.text).toBe('{\n  "name": "a",\n  "limit": "3"\n}')
    expect(got.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    const head = await call(`${url}/things/a`, { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers['content-length']).toBe(String('{\n  "name": "a"\n}'.length))
  })

  test('a wrong path is a 404 and a wrong method a 405', async () => {
    const { url } = (await serving(routes)).listening
    for (const path of ['/nothing', '/things', '/things/a/b', '/things/', '//', '/__proto__', '/things/../x']) {
      expect({ path, ...(await call(url + path)) }).toMatchObject({ path, status: 404, text: '{"error":"Not Found"}' })
    }
    for (const method of ['POST', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE']) {
      const got = await call(`${url}/things/a`, { method })
      expect({ method, ...got }).toMatchObject({ method, status: 405, json: { error: 'Method Not Allowed' } })
      expect(got.headers['allow']).toBe('GET, HEAD, PUT')
    }
  })

  test('data that is not HTTP gets a response', async () => {
    const { port } = (await serving(routes)).listening
    expect(await raw(port, 'BREW /things/a HTTP/1.1\r\nhost: localhost\r\n\r\n')).toContain('405 Method Not Allowed')
    const tunnel = await raw(port, 'CONNECT elsewhere:443 HTTP/1.1\r\nhost: elsewhere:443\r\n\r\n')
    expect(tunnel).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\nAllow: GET/)
    expect(await raw(port, 'hello\r\n\r\n')).toContain('HTTP/1.1 4')
    const big = `GET /things/a HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`
    expect(await raw(port, big)).toContain('431')
    expect(await raw(port, 'GET /things/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')).toContain('400')
  })

  test('a bug is a 500 without its reason, and a route can shape its failures', async () => {
    const { url } = (await serving(routes)).listening
    expect(await call(`${url}/fails/bug`)).toMatchObject({ status: 500, text: '{"error":"Internal Server Error"}' })
    expect(await call(`${url}/fails/known`)).toMatchObject({ status: 409, text: '{"error":"Not now"}' })
    expect(await call(`${url}/shaped`)).toMatchObject({ status: 400, text: 'oh: wrong' })
  })

  test('a route that hangs gets a 504', async () => {
    const clock = new VirtualClock()
    const { listening } = await serving(routes, {}, clock)
    handled = 0
    const response = call(`${listening.url}/fails/hangs`)
    await expect.poll(() => handled, POLL).toBe(1)
    await clock.advance(30_000)
    expect(await response).toMatchObject({ status: 504, json: { error: 'This took too long; try again' } })
  })

  test('every route is in the OpenAPI 3.1 document', async () => {
    const { url } = (await serving(routes)).listening
    const { json: document } = await call(`${url}/openapi.json`)
    expect(document).toMatchObject({
      openapi: '3.1.0',
      paths: {
        '/things/{name}': {
          get: {
            summary: 'One thing',
            parameters: expect.arrayContaining([expect.objectContaining({ name: 'limit' })]),
          },
          put: {
            requestBody: { content: { 'application/json': { schema: { properties: { size: { type: 'integer' } } } } } },
          },
        },
        '/echo': { post: {} },
        '/openapi.json': { get: {} },
      },
    })
  })

  test('requests are counted by route, not by URL', async () => {
    const { listening, metrics } = await serving(routes)
    await call(`${listening.url}/things/a`)
    await call(`${listening.url}/things/b`)
    await call(`${listening.url}/nowhere/c`)
    await expect
      .poll(async () => (await metrics.expose()).text, POLL)
      .toContain('http_requests_total{method="GET",route="/things/:name",code="200"} 2')
    const { text: exposed } = await metrics.expose()
    expect(exposed).toContain('http_requests_total{method="GET",route="(none)",code="404"} 1')
    expect(exposed).toContain('http_request_duration_seconds_count{method="GET",route="/things/:name"} 2')
    expect(exposed).toContain('http_requests_in_flight 0')
  })
})

describe('request bodies', () => {
  test('a body is validated by the schema without conversion', async () => {
    const { url } = (await serving(routes)).listening
    const put = (body: string | object): ReturnType<typeof call> => call(`${url}/things/a`, { method: 'PUT', body })
    expect(await put({ size: 3 })).toMatchObject({ status: 200, json: { size: 3 } })
    expect(await put({ size: '3' })).toMatchObject({
      status: 400,
      json: { error: 'Validation failed', details: [{ field: 'size' }] },
    })
    expect(await put('{"size":')).toMatchObject({ status: 400, text: '{"error":"Invalid JSON"}' })
    expect(await put('')).toMatchObject({ status: 400 })
    expect(await call(`${url}/things/a?limit=x`)).toMatchObject({
      status: 400,
      json: { error: 'Validation failed', details: [{ field: 'limit', message: 'Expected a whole number' }] },
    })
  })

  test('other media types are rejected, so that an HTML form of another site cannot send a body', async () => {
    const { url } = (await serving(routes)).listening
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'x']) {
      const got = await call(`${url}/echo`, { method: 'POST', body: '{}', headers: { 'content-type': type } })
      expect({ type, ...got }).toMatchObject({ type, status: 415 })
    }
    const patch = { 'content-type': 'application/merge-patch+json; charset=utf-8' }
    expect(await call(`${url}/echo`, { method: 'POST', body: '{}', headers: patch })).toMatchObject({ status: 200 })
    expect(await call(`${url}/echo`, { method: 'POST' })).toMatchObject({ status: 200, json: {} })
  })

  test('a body of 10 MB is rejected, and the caller gets the reason', async () => {
    const { listening } = await serving(routes)
    const body = Buffer.alloc(10 * 1024 * 1024, 'x')
    const url = `${listening.url}/echo`
    const expected = { status: 413, json: { error: 'The body is larger than 3145728 bytes' } }
    expect(await call(url, { method: 'POST', body })).toMatchObject(expected)
    expect(await call(url, { method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } })).toMatchObject(
      expected,
    )
    expect(await call(url, { method: 'POST', body, headers: { connection: 'close' } })).toMatchObject(expected)
    // The next request is served.
    expect(await call(url, { method: 'POST', body: { a: 1 } })).toMatchObject({ status: 200, json: { body: { a: 1 } } })
  })

  test('a 404 or 405 does not wait for the body', async () => {
    const { url } = (await serving(routes)).listening
    const body = Buffer.alloc(10 * 1024 * 1024, 'x')
    for (const [method, path, status] of [
      ['POST', '/nothing', 404],
      ['POST', '/things/a', 405],
      ['PUT', '/things/none', 404],
    ] as const) {
      for (const connection of ['close', 'keep-alive']) {
        const headers = { connection }
        expect({ path, ...(await call(url + path, { method, body, headers })) }).toMatchObject({ path, status })
      }
    }
  })

  test('a body without end is cut off', async () => {
    const { listening } = await serving(routes, { limits: { drainBytes: 100_000 } })
    const socket = connect(listening.port, '127.0.0.1', () =>
      socket.write('POST /nothing HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n'),
    )
    socket.on('error', () => undefined)
    const isClosed = new Promise((resolve) => socket.once('close', resolve))
    let response = ''
    socket.on('data', (chunk) => (response += String(chunk)))
    await expect.poll(() => response, POLL).toContain('404 Not Found')
    const send = (): void => {
      if (!socket.destroyed) socket.write(`1000\r\n${'x'.repeat(4_096)}\r\n`, () => setImmediate(send))
    }
    send()
    await isClosed
    expect(socket.destroyed).toBe(true)
  })

  test('a body that is nested too deeply is rejected before it is parsed', async () => {
    const { url } = (await serving(routes)).listening
    expect(await call(`${url}/echo`, { method: 'POST', body: nested(99) })).toMatchObject({ status: 200 })
    for (const body of [nested(101), nested(1_000_000), '{"a":'.repeat(100_000)]) {
      expect(await call(`${url}/echo`, { method: 'POST', body })).toMatchObject({
        status: 400,
        json: { error: 'JSON is nested more than 100 levels deep' },
      })
    }
    expect(await call(`${url}/echo`, { method: 'POST', body: JSON.stringify('[{'.repeat(500)) })).toMatchObject({
      status: 200,
    })
  })

  test('a body cannot set a prototype, also with an escaped key', async () => {
    const { url } = (await serving(routes)).listening
    for (const body of ['{"a":{"__proto__":{"x":1}}}', String.raw`{"\u005f_proto__":1}`, '[{"__proto__":null}]']) {
      expect(await call(`${url}/echo`, { method: 'POST', body })).toMatchObject({
        status: 400,
        json: { error: 'JSON must not have the key "__proto__"' },
      })
    }
    const harmless = { constructor: 'x', text: '__proto__' }
    expect(await call(`${url}/echo`, { method: 'POST', body: harmless })).toMatchObject({
      status: 200,
      json: { body: harmless },
    })
    expect(await call(`${url}/echo`, { method: 'POST', body: Buffer.from([0x22, 0xff, 0x22]) })).toMatchObject({
      status: 400,
      json: { error: 'Invalid JSON' },
    })
  })

  test('a body is not read if the headers are enough to reject the request', async () => {
    const { listening } = await serving(routes)
    read = 0
    const missing = 'PUT /things/none HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    // The body never arrives; the response does.
    const socket = connect(listening.port, '127.0.0.1', () => socket.write(`${missing}content-length: 100\r\n\r\n`))
    const response = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
    socket.destroy()
    expect(response).toContain('HTTP/1.1 404')
    expect(response).toContain('{"error":"No such thing"}')
    // A caller that waits for "100 Continue" gets the error and does not send the body.
    const waiting = await raw(listening.port, `${missing}expect: 100-continue\r\ncontent-length: 100\r\n\r\n`)
    expect(waiting).toMatch(/^HTTP\/1\.1 404/)
    expect(read).toBe(0)
    const headers = { expect: '100-continue' }
    expect(await call(`${listening.url}/things/a`, { method: 'PUT', body: { size: 1 }, headers })).toMatchObject({
      status: 200,
    })
  })

  test.each(['content-length: 20', 'transfer-encoding: chunked'])(
    'a request with %s that is cut off is not carried out',
    async (framing) => {
      let carriedOut = 0
      const count = (): HttpResponse => json(200, { carriedOut: ++carriedOut })
      const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
      const counted = methods.map((method) =>
        route({ method, path: '/count', summary: 'Counts', responses: {}, handle: count }),
      )
      const { listening } = await serving(counted)
      for (const method of methods) {
        for (const type of ['', 'content-type: application/json\r\n']) {
          for (const body of ['', framing.startsWith('content') ? '{}' : '2\r\n{}\r\n']) {
            for (const cut of ['end', 'destroy', 'resetAndDestroy'] as const) {
              const socket = connect(listening.port, '127.0.0.1')
              const head = `${method} /count HTTP/1.1\r\nhost: localhost\r\n${type}${framing}\r\n\r\n`
              await new Promise<void>((resolve) => socket.write(`${head}${body}`, () => resolve()))
              const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve))
              socket.resume()
              socket[cut]()
              await closed
            }
          }
        }
      }
      expect((await call(`${listening.url}/count`, { method: 'POST', body: {} })).json).toEqual({ carriedOut: 1 })
    },
  )

  test('an incomplete body does not block the server', async () => {
    const { listening, server } = await serving(routes, { limits: { headersTimeout: 300, requestTimeout: 300 } })
    const slow = await raw(
      listening.port,
      'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a',
    )
    expect(slow).toContain('408')
    expect(await raw(listening.port, 'GET /things/a HTTP/1.1\r\nhost: loc')).toContain('408')
    await server.stop(1_000)
  })
})

describe('connections', () => {
  test('streams and idle connections do not shut out probes', async () => {
    const live = route({
      method: 'GET',
      path: '/live',
      summary: 'Streams',
      responses: {},
      handle: () => ({
        status: 200,
        headers: {},
        body: { type: 'stream', contentType: 'text/plain', open: () => () => undefined },
      }),
    })
    const { listening } = await serving([...routes, live], { limits: { connections: 10, reservedConnections: 4 } })
    const sockets = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(listening.port, '127.0.0.1').on('error', () => undefined)
        socket.write('GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n')
        const status = await new Promise<string>((resolve) =>
          socket.once('data', (data) => resolve(String(data).slice(9, 12))),
        )
        return { socket, status }
      }),
    )
    expect(sockets.map(({ status }) => status).toSorted()).toEqual([...Array<string>(6).fill('200'), '503', '503'])
    for (let index = 0; index < 20; index++) {
      const socket = connect(listening.port, '127.0.0.1').on('error', () => undefined)
      sockets.push({ socket, status: '' })
      expect((await call(`${listening.url}/things/a`)).status).toBe(200)
    }
    // Those that stream stay connected.
    expect(sockets.filter(({ socket, status }) => status === '200' && socket.closed)).toEqual([])
    for (const { socket } of sockets) socket.destroy()
  })

  test('the bodies of all requests are bounded in memory', async () => {
    const { listening } = await serving(routes, { limits: { bufferedBytes: 1_000 } })
    const half = `POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n`
    const socket = connect(listening.port, '127.0.0.1')
    await new Promise<void>((resolve) => socket.write(`${half}"${'x'.repeat(800)}`, () => resolve()))
    const body = { text: 'x'.repeat(300) }
    const send = async (): Promise<number> => (await call(`${listening.url}/echo`, { method: 'POST', body })).status
    await expect.poll(send, POLL).toBe(503)
    socket.destroy()
    await expect.poll(send, POLL).toBe(200)
  })
})

describe('closing', () => {
  test('pending requests finish, and those beyond the grace period are cut off', async () => {
    const clock = new VirtualClock()
    const { listening, server } = await serving(routes, {}, clock)
    handled = 0
    const hanging = call(`${listening.url}/fails/hangs`).catch(() => 'cut off')
    await expect.poll(() => handled, POLL).toBe(1)
    let isClosed = false
    const closing = server.stop(5_000).then(() => (isClosed = true))
    await clock.advance(4_999)
    expect(isClosed).toBe(false)
    await clock.advance(1)
    await closing
    expect(await hanging).toBe('cut off')
    expect(clock.pending).toBe(0)
    await expect(call(`${listening.url}/things/a`)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('idle connections do not delay the stop', async () => {
    const { listening, server } = await serving(routes, {}, new VirtualClock())
    const socket = connect({ port: listening.port, host: '127.0.0.1' })
    await new Promise((resolve) => socket.once('connect', resolve))
    // Afterwards the server has accepted the connections before it.
    expect(await call(`${listening.url}/things/a`)).toMatchObject({ status: 200 })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    // The clock does not move: the server stops without waiting.
    await server.stop(30_000)
    await closed
    expect(socket.destroyed).toBe(true)
  })
})

describe('listening', () => {
  test('a route that is declared twice is an error', async () => {
    await expect(serving([...routes, ...routes])).rejects.toMatchObject({
      code: 'TENURE_HTTP_ROUTE',
      message: 'GET /things/:name is declared twice: change one of the paths.',
    })
  })

  test('the address 0 disables the server', async () => {
    await expect(serving(routes, { address: '0' })).rejects.toThrow('The server does not listen')
  })

  test('a port in use is an error with its holder, or the next port is used', async () => {
    const first = (await serving(routes)).listening
    const address = `127.0.0.1:${first.port}`
    await expect(serving(routes, { address, setting: 'PORT', name: 'the API' })).rejects.toMatchObject({
      code: 'TENURE_PORT_TAKEN',
      message: expect.stringMatching(
        process.platform === 'linux'
          ? new RegExp(
              `^Port ${first.port} for the API .* is taken by process ${process.pid} \\(.*node.*; stop it, or choose another with PORT`,
            )
          : /is taken by/,
      ),
    })
    const next = (await serving(routes, { address, whenTaken: 'next' })).listening
    expect(next.port).toBeGreaterThan(first.port)
    expect(next.instead).toBe(first.port)
    expect(await call(`${next.url}/things/a`)).toMatchObject({ status: 200 })
    expect(first.instead).toBeUndefined()
    await expect(serving(routes, { address: '192.0.2.1:1' })).rejects.toMatchObject({
      code: 'TENURE_ADDRESS_UNAVAILABLE',
    })
  })

  test('a loopback server accepts only loopback names', async () => {
    const { url, port } = (await serving(routes, { hosts: ['tenure.test'] })).listening
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:80', 'tenure.test', 'LOCALHOST']) {
      expect({ host, ...(await call(`${url}/things/a`, { headers: { host } })) }).toMatchObject({ host, status: 200 })
    }
    expect(await call(`${url}/things/a`, { headers: { host: 'evil.example:3000' } })).toMatchObject({ status: 403 })
    expect(await raw(port, 'GET /things/a HTTP/1.0\r\n\r\n')).toContain('200 OK')
  })
})
