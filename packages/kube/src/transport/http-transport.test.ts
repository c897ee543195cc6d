import { Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { connectTo } from '../config/connection-config.ts'
import { SecretValue } from '../config/secret-value.ts'
import { caught, configFor, get, open, serve, text, watch } from './testdata/harness.ts'
import { pem } from './testdata/servers.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { ServerResponse } from 'node:http'

describe('requests', () => {
  test('a request carries method, base path, headers, body and credentials', async () => {
    const server = await serve((request, response, body) => {
      response.setHeader('x-one', ['a', 'b'])
      response.end(JSON.stringify({ url: request.url, method: request.method, headers: request.headersDistinct, body }))
    })
    const config = configFor(server, {
      server: `https://127.0.0.1:${server.port}/k8s/clusters/c-1`,
      impersonate: { user: 'jane', uid: '7', groups: ['a', 'b'], extra: { 'acme.com/Scope': ['x', 'y'] } },
    })
    const transport = open(config, { userAgent: 'me/1' })
    const response = await transport.request({
      method: 'PATCH',
      path: '/api?a=b',
      headers: { 'content-type': 'application/json' },
      body: '{"ä":1}',
    })
    expect(response.status).toBe(200)
    expect(JSON.parse(await response.body.text())).toMatchObject({
      url: '/k8s/clusters/c-1/api?a=b',
      method: 'PATCH',
      body: '{"ä":1}',
      headers: {
        authorization: ['Bearer t'],
        'user-agent': ['me/1'],
        'content-type': ['application/json'],
        'impersonate-user': ['jane'],
        'impersonate-uid': ['7'],
        'impersonate-group': ['a', 'b'],
        'impersonate-extra-acme.com%2fscope': ['x', 'y'],
      },
    })
  })

  test('a serving certificate given as the authority is trusted without its issuer', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const connection = { server: `https://127.0.0.1:${server.port}`, token: 't' }
    const transport = open(connectTo({ ...connection, ca: pem('server.pem') }))
    expect(await text(transport)).toBe('200 ok')
    expect(await text(transport, watch)).toBe('200 ok')
    const stranger = open(connectTo({ ...connection, ca: pem('other-name.pem') }))
    expect(await caught(stranger.request(get))).toMatchObject({ code: 'TENURE_TLS_UNKNOWN_AUTHORITY' })
  })

  test('requests share at most the allowed connections', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const transport = open(configFor(server), { connections: 3 })
    await Promise.all(Array.from({ length: 30 }, () => text(transport)))
    expect(server.requests).toHaveLength(30)
    expect(server.connections()).toBeLessThanOrEqual(3)
  })

  test('a connection stays open after a DELETE with a body', async () => {
    const opened = new Set<number | undefined>()
    const server = await serve((request, response) => {
      opened.add(request.socket.remotePort)
      response.end('{}')
    })
    const transport = open(configFor(server), { connections: 1 })
    for (let turn = 0; turn < 5; turn++) {
      const response = await transport.request({ method: 'DELETE', path: '/', body: '{}' })
      await response.body.text()
    }
    expect(opened.size).toBe(1)
  })

  test('a large response arrives complete, also with split characters', async () => {
    const large = 'äöü€'.repeat(200_000)
    const server = await serve((_request, response) => response.end(large))
    expect(await text(open(configFor(server)))).toBe(`200 ${large}`)
  })

  test('keep-alive probes are enabled, so that half-open connections end', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const probe = vi.spyOn(Socket.prototype, 'setKeepAlive')
    await text(open(configFor(server)), watch)
    expect(probe).toHaveBeenCalledWith(true, 30_000)
    probe.mockRestore()
  })

  test('basic authentication is sent', async () => {
    const server = await serve((request, response) => response.end(request.headers.authorization))
    const transport = open(
      configFor(server, { credential: { kind: 'basic', username: 'u', password: new SecretValue('p:ä') } }),
    )
    expect(await text(transport)).toBe(`200 Basic ${Buffer.from('u:p:ä').toString('base64')}`)
  })
})

describe('aborting and cancelling', () => {
  test('an aborted request rejects with the reason before, during and after the headers', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/body') response.write('begun')
    })
    const transport = open(configFor(server))
    await expect(transport.request({ ...get, signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early')

    const flight = new AbortController()
    const flying = transport.request({ ...get, signal: flight.signal })
    const flown = caught(flying)
    await vi.waitFor(() => expect(server.requests).toEqual(['GET /version']))
    flight.abort(new Error('in flight'))
    expect(await flown).toMatchObject({ message: 'in flight' })

    const late = new AbortController()
    const response = await transport.request({ method: 'GET', path: '/body', signal: late.signal })
    const reading = caught(response.body.text())
    late.abort(new Error('late'))
    expect(await reading).toMatchObject({ message: 'late' })
    await vi.waitFor(() => expect(server.sockets.size).toBe(0))
  })

  test('a request aborted while it waits for a connection is never sent', async () => {
    const waitingAnswers: ServerResponse[] = []
    const release = (): void => void waitingAnswers.shift()?.end('done')
    const server = await serve((_request, response) => void waitingAnswers.push(response))
    const transport = open(configFor(server), { connections: 1 })
    const first = text(transport)
    await vi.waitFor(() => expect(server.requests).toHaveLength(1))
    const waiting = new AbortController()
    const second = caught(transport.request({ ...get, path: '/second', signal: waiting.signal }))
    waiting.abort(new Error('gave up'))
    expect(await second).toMatchObject({ message: 'gave up' })
    release()
    expect(await first).toBe('200 done')
    const third = text(transport, { ...get, path: '/third' })
    await vi.waitFor(() => expect(server.requests).toContain('GET /third'))
    release()
    await third
    expect(server.requests).not.toContain('GET /second')
  })

  test('an abort leaves no listener behind', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const controller = new AbortController()
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    const add = vi.spyOn(controller.signal, 'addEventListener')
    const transport = open(configFor(server))
    for (let i = 0; i < 5; i++) await text(transport, { ...get, signal: controller.signal })
    expect(remove.mock.calls.length).toBeGreaterThanOrEqual(5)
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length)
  })

  test('a stream has its own connection, freed by leaving the loop, return and cancel', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/watch') response.write('event\n')
      else response.end('ok')
    })
    const transport = open(configFor(server), { connections: 1 })
    const streams = await Promise.all([1, 2, 3].map(() => transport.request(watch)))
    expect(await text(transport)).toBe('200 ok')
    expect(server.sockets.size).toBe(4)
    const [left, returned, cancelled] = streams
    for await (const chunk of left?.body ?? []) {
      expect(Buffer.from(chunk).toString()).toBe('event\n')
      break
    }
    await vi.waitFor(() => expect(server.sockets.size).toBe(3))
    const iterator = returned?.body[Symbol.asyncIterator]()
    await iterator?.next()
    const pending = iterator?.next()
    await iterator?.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
    cancelled?.body.cancel()
    await vi.waitFor(() => expect(server.sockets.size).toBe(1))
  })

  test('a slow consumer stops the sender and gets every byte', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const total = 1024
    let sent = 0
    let blocked = false
    const server = await serve((_request, response) => {
      const pump = (): void => {
        while (sent < total) {
          sent += 1
          if (!response.write(chunk)) {
            blocked = true
            response.once('drain', pump)
            return
          }
        }
        response.end()
      }
      pump()
    })
    const transport = open(configFor(server))
    const { body } = await transport.request(watch)
    // The sender stops long before it has sent everything.
    await vi.waitFor(async () => {
      const before = sent
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(sent).toBe(before)
    })
    expect(blocked).toBe(true)
    expect(sent).toBeLessThan(total / 2)
    let received = 0
    for await (const part of body) received += part.length
    expect(received).toBe(total * chunk.length)
  })
})

describe('closing', () => {
  test('closing ends requests, streams and connections, and rejects later requests', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/watch') response.write('event')
      else if (request.url === '/version') response.end('ok')
    })
    const clock = new VirtualClock()
    const transport = open(configFor(server), { clock })
    expect(await text(transport)).toBe('200 ok')
    const { body } = await transport.request(watch)
    const chunks = body[Symbol.asyncIterator]()
    await chunks.next()
    const ended = caught(chunks.next())
    const hanging = caught(transport.request({ ...get, path: '/hang' }))
    await vi.waitFor(() => expect(server.requests).toContain('GET /hang'))
    await Promise.all([transport.close(), transport.close()])
    expect(await ended).toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED', fate: 'terminal' })
    expect(await hanging).toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED' })
    await vi.waitFor(() => expect(server.sockets.size).toBe(0))
    expect(clock.pending).toBe(0)
    await expect(transport.request(get)).rejects.toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED' })
  })

  test('closing is possible while the first connection is opened', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    const transport = open(configFor(server))
    const first = caught(transport.request(get))
    await transport.close()
    expect(await first).toMatchObject({ code: 'TENURE_TRANSPORT_CLOSED' })
    expect(server.requests).toEqual([])
  })
})
