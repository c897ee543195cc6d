import type { Kind, KubeApi } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { json } from '../routes/response.ts'
import { HttpServer } from '../server/http-server.ts'
import type { Listening } from '../server/http-server.ts'
import { route } from '../routes/route.ts'
import { call, contextOf } from '../server/server.testing.ts'
import { TokenAccessControl } from './token-access-control.ts'

interface Review {
  readonly kind: string
  readonly spec: {
    readonly token?: string
    readonly user?: string
    readonly groups?: readonly string[]
    readonly resourceAttributes?: { readonly namespace?: string; readonly verb: string }
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
  }
}

let clock: VirtualClock
let asked: Review[]
let isDown: boolean

/** Answers reviews like an API server with two users: `anna` has full access in namespace `shop`, `ben` has none. */
function create(kind: Kind, object: object): Promise<object> {
  const review = { kind: kind.kind, ...object } as Review
  asked.push(review)
  return isDown ? Promise.reject(new Error('down')) : Promise.resolve({ ...review, status: statusOf(review) })
}

/** The only verb that TokenAccessControl uses. */
const judge = (): KubeApi => ({ create }) as unknown as KubeApi

function statusOf({ kind, spec }: Review): object {
  if (kind === 'TokenReview') {
    const user = { 'anna-token': 'anna', 'ben-token': 'ben' }[spec.token ?? '']
    return user ? { authenticated: true, user: { username: user, uid: '1', groups: ['people'] } } : { error: 'no' }
  }
  const { resourceAttributes, nonResourceAttributes } = spec
  const isHers = resourceAttributes?.namespace === 'shop' || nonResourceAttributes?.path === '/metrics'
  return { allowed: spec.user === 'anna' && isHers }
}

beforeEach(() => {
  clock = new VirtualClock()
  asked = []
  isDown = false
})

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const things = (namespace?: string) => ({ group: 'example.dev', resource: 'things', verb: 'get', namespace })

describe('TokenAccessControl', () => {
  test('user and access are reviewed by the API server and cached', async () => {
    const accessControl = new TokenAccessControl({ api: judge(), clock })
    const [user] = await Promise.all([
      accessControl.authenticate('Bearer anna-token'),
      accessControl.authenticate('bearer anna-token'),
    ])
    expect(user).toMatchObject({ name: 'anna', groups: ['people'] })
    await accessControl.authorize(user, things('shop'))
    await accessControl.authorize(user, things('shop'))
    expect(asked.map(({ kind }) => kind)).toEqual(['TokenReview', 'SubjectAccessReview'])
    expect(asked[1]?.spec).toMatchObject({
      user: 'anna',
      groups: ['people'],
      resourceAttributes: { group: 'example.dev', resource: 'things', verb: 'get', namespace: 'shop' },
    })
    await clock.advance(10_000)
    await accessControl.authenticate('Bearer anna-token')
    await accessControl.authorize(user, things('shop'))
    expect(asked).toHaveLength(4)
  })

  test('unknown users get a 401 and users without access a 403', async () => {
    const accessControl = new TokenAccessControl({ api: judge(), clock })
    for (const header of [undefined, '', 'Basic YTpi', 'Bearer ', 'Bearer a b', 'Bearer unknown']) {
      await expect(accessControl.authenticate(header)).rejects.toMatchObject({
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
      })
    }
    await expect(accessControl.authenticate(`Bearer ${'x'.repeat(20_000)}`)).rejects.toMatchObject({ status: 401 })
    expect(asked).toHaveLength(1)
    const anna = await accessControl.authenticate('Bearer anna-token')
    await expect(accessControl.authorize(anna, things())).rejects.toMatchObject({
      status: 403,
      message: 'User "anna" may not get things.example.dev',
    })
    await expect(accessControl.authorize(undefined, things())).rejects.toMatchObject({ status: 401 })
    await expect(accessControl.authorize(undefined, 'public')).resolves.toBeUndefined()
  })

  test('the number of cached tokens is bounded', async () => {
    const accessControl = new TokenAccessControl({ api: judge(), clock, maxTokens: 2 })
    for (const name of ['a', 'b', 'c', 'b', 'c', 'a'])
      await accessControl.authenticate(`Bearer ${name}`).catch(() => undefined)
    expect(asked.map(({ spec }) => spec.token)).toEqual(['a', 'b', 'c', 'a'])
  })

  test('an unreachable API server is a 503, and the next request asks again', async () => {
    const accessControl = new TokenAccessControl({ api: judge(), clock })
    isDown = true
    const refused = accessControl.authenticate('Bearer anna-token').catch((error: unknown) => error)
    await clock.advance(10_000)
    expect(await refused).toMatchObject({ status: 503 })
    isDown = false
    await expect(accessControl.authenticate('Bearer anna-token')).resolves.toMatchObject({ name: 'anna' })
  })
})

describe('a server on a public address', () => {
  let server: HttpServer | undefined
  afterEach(async () => {
    await server?.stop(0)
  })

  test('a token is required by default, except for public routes', async () => {
    const routes = [
      route({
        method: 'GET',
        path: '/healthz',
        summary: 'x',
        access: 'public',
        responses: {},
        handle: () => json(200, {}),
      }),
      route({ method: 'GET', path: '/metrics', summary: 'x', responses: {}, handle: () => json(200, {}) }),
      route({
        method: 'GET',
        path: '/things/:namespace',
        summary: 'x',
        access: ({ params }) => things((params as { namespace: string }).namespace),
        responses: {},
        handle: ({ user }) => json(200, { user: user?.name }),
      }),
    ]
    let listening: Listening | undefined
    const context = await contextOf(clock, judge())
    const options = {
      address: '0.0.0.0:0',
      routes,
      onListening: (where: Listening) => (listening = where),
    }
    server = new HttpServer(options, context)
    await server.start()
    const url = `http://127.0.0.1:${listening?.port}`
    expect(await call(`${url}/healthz`)).toMatchObject({ status: 200 })
    const anonymous = await call(`${url}/things/shop`)
    expect(anonymous).toMatchObject({ status: 401, json: { error: 'A bearer token is needed' } })
    expect(anonymous.headers['www-authenticate']).toBe('Bearer')
    expect(await call(`${url}/things/shop`, as('anna-token'))).toMatchObject({ status: 200, json: { user: 'anna' } })
    expect(await call(`${url}/things/bank`, as('anna-token'))).toMatchObject({ status: 403 })
    expect(await call(`${url}/things/shop`, as('ben-token'))).toMatchObject({ status: 403 })
    expect(await call(`${url}/metrics`, as('anna-token'))).toMatchObject({ status: 200 })
    expect(asked.at(-1)?.spec.nonResourceAttributes).toEqual({ path: '/metrics', verb: 'get' })
  })
})
