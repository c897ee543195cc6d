import { afterEach, describe, expect, test } from 'vitest'
import { text } from '../routes/response.ts'
import type { HttpError } from '../errors/http-error.ts'
import type { HttpResponse } from '../routes/response.ts'
import { route } from '../routes/route.ts'
import { call, closeAll, contextOf, serving } from './server.testing.ts'
import { type Listening, ownServers } from './http-server.ts'
import { systemClock } from '@tenure/kube'

afterEach(closeAll)

const plain = ({ status, message, headers }: HttpError): HttpResponse => ({
  ...text(status, `${message}\n`),
  headers,
})

const routes = [
  route({
    method: 'POST',
    path: '/raw/:name',
    summary: 'Counts bytes',
    rawBody: true,
    bodyLimit: 10,
    responses: {},
    handle: ({ body, remoteAddress }) =>
      text(200, `${body instanceof Uint8Array ? body.length : String(body)} ${remoteAddress}`),
    shapeFailure: plain,
  }),
  route({
    method: 'POST',
    path: '/slow',
    summary: 'Answers late',
    rawBody: true,
    timeout: 60_000,
    responses: {},
    handle: async ({ signal }) => {
      // Longer than the server lets a connection stall.
      await new Promise<void>((resolve) => {
        const timer = systemClock.setTimer(500, resolve)
        signal.addEventListener('abort', () => (timer.cancel(), resolve()), { once: true })
      })
      return text(200, signal.aborted ? 'cut' : 'done')
    },
  }),
]

describe('a route with a raw body', () => {
  test('it gets the bytes of any content type, and undefined without a body', async () => {
    const { listening } = await serving(routes)
    const url = `${listening.url}/raw/a`
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await call(url, { method: 'POST' })).text).toBe('undefined 127.0.0.1')
    expect((await call(url, { method: 'POST', body: 'nonsense', headers: form })).text).toBe('8 127.0.0.1')
    expect((await call(url, { method: 'POST', body: '{"a":' })).text).toBe('5 127.0.0.1')
    expect((await call(url, { method: 'POST', body: '', headers: form })).text).toBe('undefined 127.0.0.1')
    expect(await call(url, { method: 'POST', body: 'x'.repeat(11), headers: form })).toMatchObject({ status: 413 })
  })

  test('another method is refused in the words of the route', async () => {
    const { listening } = await serving(routes)
    const { status, headers, text: body } = await call(`${listening.url}/raw/a`, { method: 'PUT' })
    expect([status, headers['allow'], body]).toEqual([405, 'POST', 'Method Not Allowed\n'])
  })
})

test('a server can shape the failures of paths without a route', async () => {
  const { listening } = await serving(routes, { shapeFailure: () => text(404, '404 page not found\n') })
  expect(await call(`${listening.url}/none`)).toMatchObject({ status: 404, text: '404 page not found\n' })
  const { listening: other } = await serving(routes)
  expect(await call(`${other.url}/none`)).toMatchObject({ status: 404, json: { error: 'Not Found' } })
})

test('a web page of another origin changes nothing on a server without authentication', async () => {
  const { listening } = await serving(routes)
  const url = `${listening.url}/raw/a`
  for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1', 'nonsense']) {
    expect(await call(url, { method: 'POST', headers: { origin } })).toMatchObject({ status: 403 })
  }
  expect(await call(url, { method: 'POST', headers: { origin: listening.url } })).toMatchObject({ status: 200 })
})

test('a call that waits for its response is not taken for a stalled connection', async () => {
  const { listening } = await serving(routes, { limits: { stallTimeout: 100 } })
  expect(await call(`${listening.url}/slow`, { method: 'POST' })).toMatchObject({ status: 200, text: 'done' })
})

test('an operator has a server of its own, unless the shared server has its port', async () => {
  const context = await contextOf(systemClock)
  const found: Listening[] = []
  const own = { name: 'own', address: '127.0.0.1:0', routes }
  const operators = [{ parts: { servers: [own] } }, { parts: {} }] as never
  const component = ownServers({ onListening: (_server, listening) => found.push(listening) }).create(
    operators,
    context,
  )
  await component.start(new AbortController().signal)
  const [listening] = found
  expect(await call(`${listening?.url}/raw/a`, { method: 'POST' })).toMatchObject({ status: 200 })
  await component.stop(0)
  const shared = { ...own, address: `127.0.0.1:${listening?.port}` }
  const none = ownServers({
    sharedPort: listening?.port,
    onListening: (_server, where) => found.push(where),
  }).create([{ parts: { servers: [shared] } }] as never, context)
  await none.start(new AbortController().signal)
  expect(found).toHaveLength(1)
  await none.stop(0)
})
