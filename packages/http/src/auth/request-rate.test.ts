import type { Kind, KubeApi } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, expect, test } from 'vitest'
import { json } from '../routes/response.ts'
import { route } from '../routes/route.ts'
import { HttpServer, type HttpServerOptions, type Listening } from '../server/http-server.ts'
import { call, contextOf } from '../server/server.testing.ts'
import { RequestRate } from './request-rate.ts'
import { TokenAccessControl } from './token-access-control.ts'

const clock = new VirtualClock()
let server: HttpServer | undefined

afterEach(() => server?.stop(0))

/** An API server that knows every token that begins with `known`. */
function create(kind: Kind, { spec }: { readonly spec: { readonly token?: string } }): Promise<object> {
  if (kind.kind !== 'TokenReview') return Promise.resolve({ status: { allowed: true } })
  const { token = '' } = spec
  return Promise.resolve({ status: { authenticated: token.startsWith('known'), user: { username: token } } })
}
const api = { create } as unknown as KubeApi

const routes = [
  route({ method: 'GET', path: '/things', summary: 'x', responses: {}, handle: () => json(200, {}) }),
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'x',
    access: 'public',
    responses: {},
    handle: () => json(200, {}),
  }),
]

async function serve(options: Partial<HttpServerOptions>): Promise<string> {
  const listening = Promise.withResolvers<Listening>()
  server = new HttpServer(
    { address: '127.0.0.1:0', routes, onListening: listening.resolve, ...options },
    await contextOf(clock, api),
  )
  await server.start()
  return (await listening.promise).url
}

/** The status of as many requests, one after the other. */
async function statuses(url: string, count: number, token?: string): Promise<readonly number[]> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const found: number[] = []
  for (let n = 0; n < count; n++) found.push((await call(url, { headers })).status)
  return found
}

test('a caller above its rate gets a 429 that says when to try again, and other callers are served', async () => {
  const url = await serve({ authentication: 'token', limits: { requestsPerSecond: 2 } })
  expect(await statuses(`${url}/things`, 5, 'known-anna')).toEqual([200, 200, 200, 200, 429])
  const refused = await call(`${url}/things`, { headers: { authorization: 'Bearer known-anna' } })
  expect(refused).toMatchObject({ status: 429, json: { error: 'Too many requests; try again in a second' } })
  expect(refused.headers['retry-after']).toBe('1')
  expect(await statuses(`${url}/things`, 1, 'known-ben')).toEqual([200])
  await clock.advance(1_000)
  expect(await statuses(`${url}/things`, 3, 'known-anna')).toEqual([200, 200, 429])
})

test('probes are never limited', async () => {
  const url = await serve({ authentication: 'token', limits: { requestsPerSecond: 1 } })
  expect(await statuses(`${url}/healthz`, 10)).toEqual(Array.from({ length: 10 }, () => 200))
})

test('without tokens a limit holds for each address, and only if it is set', async () => {
  const url = await serve({ authentication: 'none', limits: { requestsPerSecond: 1 } })
  expect(await statuses(`${url}/things`, 3)).toEqual([200, 200, 429])
  await server?.stop(0)
  const open = await serve({ authentication: 'none' })
  expect(new Set(await statuses(`${open}/things`, 50))).toEqual(new Set([200]))
})

test('0 turns the limit off', () => {
  const rate = new RequestRate({ clock, perSecond: 0 })
  expect(() => {
    for (let n = 0; n < 10_000; n++) rate.take('anna')
  }).not.toThrow()
})

test('an address that sends many unknown tokens is refused before the API server is asked, others and known tokens are not', async () => {
  const accessControl = new TokenAccessControl({ api, clock, reviewsPerSecond: 2 })
  await accessControl.authenticate('Bearer known-anna', '192.0.2.1')
  const refusals: unknown[] = []
  for (const guess of ['a', 'b', 'c', 'd', 'e']) {
    const refusal = await accessControl
      .authenticate(`Bearer ${guess}`, '192.0.2.1')
      .catch((error: unknown) => (error as { status: number }).status)
    refusals.push(refusal)
  }
  expect(refusals).toEqual([401, 401, 401, 429, 429])
  await expect(accessControl.authenticate('Bearer known-anna', '192.0.2.1')).resolves.toMatchObject({
    name: 'known-anna',
  })
  await expect(accessControl.authenticate('Bearer known-ben', '192.0.2.2')).resolves.toMatchObject({
    name: 'known-ben',
  })
  // Checks of open streams have no address: a limit must not end them.
  await expect(accessControl.authenticate('Bearer known-cleo')).resolves.toMatchObject({ name: 'known-cleo' })
})
