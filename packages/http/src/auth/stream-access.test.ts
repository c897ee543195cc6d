import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Kind, KubeApi } from '@tenure/kube'
import { settle, VirtualClock } from '@tenure/kube/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { route } from '../routes/route.ts'
import { HttpServer, type Listening } from '../server/http-server.ts'
import { call, contextOf } from '../server/server.testing.ts'
import { SseHub } from '../sse/hub.ts'

/** Generous for slow machines: polling ends with its condition. */
const POLL = { timeout: 15_000 }
const NAMESPACES = { group: '', resource: 'namespaces', verb: 'list' }
const headers = { authorization: 'Bearer token' }

let clock: VirtualClock
let hub: SseHub<undefined>
let server: HttpServer
let listening: Listening
/** Answers of the API server. */
let answers: { hasAccount: boolean; mayWatch: boolean; mayList: boolean; isDown: boolean }
let reviews: number

/** The only verb that authentication uses. */
function create(kind: Kind, { spec }: { readonly spec: { readonly resourceAttributes?: unknown } }): Promise<object> {
  reviews++
  const { hasAccount, isDown, mayList, mayWatch } = answers
  if (isDown) return Promise.reject(new Error('down'))
  if (kind.kind === 'TokenReview') {
    return Promise.resolve({ status: { authenticated: hasAccount, user: { username: 'anna' } } })
  }
  return Promise.resolve({ status: { allowed: spec.resourceAttributes ? mayList : mayWatch } })
}

const stream = (path: string, access?: 'public') =>
  route({
    method: 'GET',
    path,
    summary: 'x',
    responses: {},
    ...(access && { access }),
    handle: async ({ authorize, signal }) => {
      if (!access) await authorize(NAMESPACES)
      return hub.open({ signal })
    },
  })

beforeEach(async () => {
  clock = new VirtualClock()
  hub = new SseHub({ clock, name: 'test' })
  answers = { hasAccount: true, mayWatch: true, mayList: true, isDown: false }
  reviews = 0
  const where = Promise.withResolvers<Listening>()
  const options = {
    address: '127.0.0.1:0',
    authentication: 'token',
    routes: [stream('/watch'), stream('/open', 'public')],
    onListening: where.resolve,
  } as const
  server = new HttpServer(options, await contextOf(clock, { create } as unknown as KubeApi))
  await server.start()
  listening = await where.promise
})

afterEach(() => server.stop(0))

/** Opens a stream; resolves when it is connected. */
async function open(path: string): Promise<{ readonly isClosed: () => boolean }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(listening.url + path, { agent: false, headers }, resolve)
      .on('error', reject)
      .end()
  })
  let isClosed = false
  response.on('error', () => undefined).on('close', () => (isClosed = true))
  response.resume()
  expect(response.statusCode).toBe(200)
  return { isClosed: () => isClosed }
}

test.each([
  ['its account is deleted', { hasAccount: false }],
  ['it may not watch any more', { mayWatch: false }],
  ['it has lost an access that the route asked for', { mayList: false }],
])('a stream ends within a minute after its caller loses access: %s', async (_why, change) => {
  const reader = await open('/watch')
  await expect.poll(() => hub.readers, POLL).toBe(1)
  await clock.advance(600_000)
  expect(hub.readers).toBe(1)
  Object.assign(answers, change)
  await clock.advance(59_999)
  await expect.poll(() => hub.readers, POLL).toBe(0)
  await expect.poll(reader.isClosed, POLL).toBe(true)
  expect(await call(`${listening.url}/watch`, { headers })).not.toMatchObject({ status: 200 })
})

test('a stream goes on while the API server does not answer, and ends when it refuses', async () => {
  await open('/watch')
  await expect.poll(() => hub.readers, POLL).toBe(1)
  answers = { ...answers, isDown: true, hasAccount: false }
  await clock.advance(600_000)
  expect(hub.readers).toBe(1)
  answers = { ...answers, isDown: false }
  await clock.advance(59_999)
  await expect.poll(() => hub.readers, POLL).toBe(0)
})

test('a closed stream and a public one cost no reviews', async () => {
  const reader = await open('/open')
  await expect.poll(() => hub.readers, POLL).toBe(1)
  await clock.advance(600_000)
  expect([reviews, hub.readers, reader.isClosed()]).toEqual([0, 1, false])
  await server.stop(0)
  await settle()
  const before = reviews
  await clock.advance(600_000)
  expect(reviews).toBe(before)
})
