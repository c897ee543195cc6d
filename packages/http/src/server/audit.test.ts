import { request as httpRequest } from 'node:http'
import type { Kind, KubeApi } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { createLogger } from '@tenure/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ANY_ACCOUNT } from '../auth/access.ts'
import { json } from '../routes/response.ts'
import { type Method, type Route, route } from '../routes/route.ts'
import { HttpServer, type HttpServerOptions, type Listening } from './http-server.ts'
import { call, contextOf } from './server.testing.ts'

const THING = { group: 'example.dev', resource: 'things', namespace: 'shop' }
const TOKEN = 'anna-token'
const headers = { authorization: `Bearer ${TOKEN}` }

let clock: VirtualClock
let lines: string[]
let server: HttpServer | undefined
let release: (() => void) | undefined

beforeEach(() => {
  clock = new VirtualClock()
  lines = []
})
afterEach(() => server?.stop(0))

/** An API server that knows one token, and forbids the verb `delete`. */
function create(kind: Kind, { spec }: { readonly spec: Review }): Promise<object> {
  if (kind.kind === 'TokenReview')
    return Promise.resolve({ status: { authenticated: spec.token === TOKEN, user: { username: 'anna' } } })
  return Promise.resolve({ status: { allowed: spec.resourceAttributes?.verb !== 'delete' } })
}

interface Review {
  readonly token?: string
  readonly resourceAttributes?: { readonly verb: string }
}

const thing = (method: Method, path: string, more: Partial<Parameters<typeof route>[0]> = {}): Route =>
  route({
    method,
    path,
    summary: 'x',
    responses: {},
    access: { ...THING, verb: method.toLowerCase(), name: 'one' },
    handle: () => json(200, {}),
    ...more,
  })

const routes = [
  thing('GET', '/things'),
  thing('PUT', '/things/:id'),
  thing('DELETE', '/things/:id'),
  thing('POST', '/reviews', { isWrite: false, access: 'public' }),
  thing('POST', '/things', {
    access: ANY_ACCOUNT,
    handle: async ({ audit, authorize }) => {
      await authorize({ ...THING, verb: 'create' })
      audit({ name: 'made' })
      return json(201, {})
    },
  }),
  thing('POST', '/slow', {
    handle: async () => {
      await new Promise<void>((resolve) => (release = resolve))
      return json(200, {})
    },
  }),
]

async function serve(options: Partial<HttpServerOptions> = {}): Promise<string> {
  const context = await contextOf(clock, { create } as unknown as KubeApi)
  const log = await createLogger({ clock, destination: { write: (text) => lines.push(text) } })
  const listening = Promise.withResolvers<Listening>()
  const authentication = 'token'
  server = new HttpServer(
    { address: '127.0.0.1:0', routes, authentication, onListening: listening.resolve, ...options },
    { ...context, log },
  )
  await server.start()
  return (await listening.promise).url
}

/** The lines of the audit log. */
const audited = (): readonly Record<string, unknown>[] =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ audit }) => audit === true)

const POLL = { timeout: 15_000 }

test('each write is one line with caller, object and outcome, without values of the path, the query or the body', async () => {
  const url = await serve()
  const body = { password: 'in-the-body' }
  await call(`${url}/things/in-the-path?token=in-the-query`, { method: 'PUT', headers, body })
  await expect.poll(audited, POLL).toMatchObject([
    {
      msg: 'write requested',
      level: 'info',
      requestId: expect.any(String),
      user: 'anna',
      remoteAddress: '127.0.0.1',
      method: 'PUT',
      route: '/things/:id',
      verb: 'put',
      resource: 'things.example.dev',
      namespace: 'shop',
      name: 'one',
      status: 200,
    },
  ])
  expect(lines.join('')).not.toMatch(/in-the-(path|query|body)|anna-token/)
})

test('a refused write is recorded with its status', async () => {
  const url = await serve()
  await call(`${url}/things/one`, { method: 'DELETE', headers })
  await expect.poll(audited, POLL).toMatchObject([{ user: 'anna', verb: 'delete', name: 'one', status: 403 }])
})

test('a route names the object that only its body or its result tells', async () => {
  const url = await serve()
  await call(`${url}/things`, { method: 'POST', headers, body: {} })
  await expect
    .poll(audited, POLL)
    .toMatchObject([{ verb: 'create', resource: 'things.example.dev', name: 'made', status: 201 }])
})

test('reads, reviews and callers without an accepted token are not recorded', async () => {
  const url = await serve()
  await call(`${url}/things`, { headers })
  await call(`${url}/reviews`, { method: 'POST', body: {} })
  await call(`${url}/things/one`, { method: 'PUT', body: {} })
  await call(`${url}/things/one`, { method: 'PUT', body: {}, headers: { authorization: 'Bearer unknown' } })
  await call(`${url}/things/one`, { method: 'PUT', body: {}, headers })
  await expect.poll(audited, POLL).toHaveLength(1)
})

test('without authentication the address stands for the caller', async () => {
  const url = await serve({ authentication: 'none' })
  const forwarded = { 'x-forwarded-for': `192.0.2.7, ${'x'.repeat(1_000)}` }
  await call(`${url}/things/one`, { method: 'PUT', body: {}, headers: forwarded })
  await expect.poll(audited, POLL).toHaveLength(1)
  const [line] = audited()
  expect(line).toMatchObject({ remoteAddress: '127.0.0.1', forwardedFor: expect.stringMatching(/^192\.0\.2\.7, x+$/) })
  expect(line).not.toHaveProperty('user')
  expect(String(line?.['forwardedFor'])).toHaveLength(256)
})

test('a caller that leaves before the response is recorded without a status', async () => {
  const url = await serve()
  const request = httpRequest(`${url}/slow`, { method: 'POST', headers }).on('error', () => undefined)
  request.end()
  await expect.poll(() => release, POLL).toBeDefined()
  request.destroy()
  await expect.poll(audited, POLL).toHaveLength(1)
  expect(audited()[0]).not.toHaveProperty('status')
  release?.()
})
