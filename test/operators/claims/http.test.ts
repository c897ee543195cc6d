import { ConfigMap } from '@tenure/kube/kinds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Floor, onEveryFloor } from '../../floors/index.ts'
import { RunningClaims } from './support.ts'

const TEXT = 'text/plain; charset=utf-8'

onEveryFloor('The HTTP API of claims', (floor) => {
  let operator: RunningClaims
  const here = (): Floor => floor()

  beforeAll(async () => {
    operator = await RunningClaims.start(here())
    await operator.warm()
  }, 120_000)
  afterAll(() => operator.stop())

  test('a warm claim is answered on one line with sorted keys, and its data is that of its objects', async () => {
    const { status, text, json, headers } = await operator.post('/claim')
    expect(status).toBe(201)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    const id = String(json?.['id'])
    expect(id).toMatch(/^[a-z0-9]{16,}$/)
    const { namespace } = operator
    const expiresAt = String(json?.['expiresAt'])
    expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(text).toBe(
      `{"data":{"fqdn":"claim-${id}.${namespace}.svc.cluster.local","image":"nginx:1.27"},"expiresAt":"${expiresAt}",` +
        `"id":"${id}","preProvisioned":true,"releaseMethod":"POST","releasePath":"/release/${id}",` +
        `"renewMethod":"POST","renewPath":"/renew/${id}","status":"ok"}`,
    )
    const [claim] = (await operator.claims()).filter((each) => each.id === id)
    expect(claim).toMatchObject({ status: 'ready', isIdle: false, expiresAt: Date.parse(expiresAt) })
    expect((await operator.send('GET', `/claim/${id}`)).json).toMatchObject({ id, pool: 'default', status: 'ready' })
    expect(await operator.post(`/release/${id}`)).toMatchObject({ status: 204, text: '' })
    expect(await operator.post(`/release/${id}`)).toMatchObject({ status: 404, text: 'claim not found\n' })
    expect(await operator.post(`/renew/${id}`)).toMatchObject({ status: 404, text: 'claim not found\n' })
  })

  test.each([
    ['an empty body', '', {}],
    ['null', 'null', {}],
    ['an empty object', '{}', {}],
    ['a blank TTL', '{"ttl":"  "}', {}],
    ['white space', ' \n', {}],
    ['another content type', '{"TTL":" 5m "}', { 'content-type': 'text/plain' }],
    ['unknown fields', '{"tTl":"1h30m","other":[1]}', {}],
    ['a TTL above the maximum', '{"ttl":"1w"}', {}],
  ])('%s is accepted', async (_name, body, headers) => {
    const { status, json } = await operator.post('/claim', body, headers)
    expect(status).toBe(201)
    await operator.post(String(json?.['releasePath']))
  })

  test.each([
    ['not JSON', '{"ttl":', /^invalid request body: /],
    ['an array', '[]', /^invalid request body: /],
    ['a TTL of another type', '{"ttl":5}', /^invalid request body: /],
    ['a pool of another type', '{"pool":{}}', /^invalid request body: /],
    ['values of another type', '{"values":"a"}', /^invalid request body: /],
    ['a prototype key', '{"values":{"__proto__":{"a":1}}}', /^invalid request body: .*__proto__/],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]).toString('latin1'), /^invalid request body: /],
    [
      'values that are too large',
      JSON.stringify({ values: { a: 'x'.repeat(64 * 1024) } }),
      /^invalid request body: values/,
    ],
    ['deep JSON', `${'{"values":{"a":'.repeat(60)}1${'}'.repeat(120)}`, /^invalid request body: /],
    ['a TTL outside the grammar', '{"ttl":"5 minutes"}', /^invalid ttl duration: /],
    ['a TTL without a unit', '{"ttl":"1h30"}', /^invalid ttl duration: /],
    ['no TTL', '{"ttl":"0s"}', /^ttl must be greater than 0$/],
    ['a negative TTL', '{"ttl":"-5m"}', /^ttl must be greater than 0$/],
  ])('%s is a 400 in plain text, and nothing is taken', async (_name, body, message) => {
    const before = (await operator.claims()).length
    for (const target of ['/claim', '/renew/none']) {
      const { status, headers, text } = await operator.post(target, body)
      expect([target, status]).toEqual([target, 400])
      expect(headers.get('content-type')).toBe(TEXT)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(text.endsWith('\n')).toBe(true)
      expect(text.trimEnd()).toMatch(message)
    }
    expect(await operator.claims()).toHaveLength(before)
  })

  test('bad paths, methods and ids have the answers of the original', async () => {
    for (const target of ['/', '/claim/', '/claims/x', '/release', '/release/', '/renew/a/b', '/nothing']) {
      expect([target, await operator.post(target)]).toMatchObject([
        target,
        { status: 404, text: '404 page not found\n' },
      ])
    }
    for (const [method, target] of [
      ['GET', '/claim'],
      ['PUT', '/claim'],
      ['GET', '/release/x'],
      ['DELETE', '/renew/x'],
    ] as const) {
      const { status, text, headers } = await operator.send(method, target)
      expect([target, status, text, headers.get('allow')]).toEqual([target, 405, 'method not allowed\n', 'POST'])
    }
    expect(await operator.post('/release/%20')).toMatchObject({ status: 400, text: 'id is required\n' })
    for (const id of ['none', '..%2f', '%2e%2e', 'A', 'x'.repeat(300), '__proto__', 'a%00b']) {
      expect([id, (await operator.post(`/release/${id}`)).status]).toEqual([id, 404])
      expect([id, (await operator.send('GET', `/claim/${id}`)).status]).toEqual([id, 404])
    }
    expect(await operator.post('/claim', { pool: 'none' })).toMatchObject({
      status: 404,
      text: 'unknown pool "none"\n',
    })
  })

  test('an object that is not a claim is refused, and a member of the pool is not found', async () => {
    const { api } = here()
    const foreign = { name: 'claim-foreign', namespace: operator.namespace }
    await api.create(ConfigMap, { metadata: foreign })
    for (const action of ['release', 'renew']) {
      expect(await operator.post(`/${action}/foreign`)).toMatchObject({
        status: 403,
        text: 'claim not managed by controller\n',
      })
    }
    expect(await api.get(ConfigMap, foreign)).toBeDefined()
    const [idle] = (await operator.claims()).filter(({ isIdle }) => isIdle)
    expect(await operator.post(`/release/${idle?.id}`)).toMatchObject({ status: 404 })
  })

  test('an Idempotency-Key gives the same claim again, and another body is a conflict', async () => {
    const key = { 'Idempotency-Key': 'job-1' }
    const first = await operator.post('/claim', { ttl: '5m' }, key)
    const again = await operator.post('/claim', { ttl: '5m' }, key)
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    expect(await operator.post('/claim', { ttl: '6m' }, key)).toMatchObject({ status: 409 })
    expect(await operator.post('/claim', '', { 'Idempotency-Key': 'x'.repeat(129) })).toMatchObject({ status: 400 })
    await operator.post(String(first.json?.['releasePath']))
  })

  test('probes answer ok, and the API describes itself', async () => {
    expect(await operator.send('GET', '/healthz')).toMatchObject({ status: 200, text: 'ok' })
    expect(await operator.send('GET', '/readyz')).toMatchObject({ status: 200, text: 'ok' })
    const { json } = await operator.send('GET', '/openapi.json')
    expect(Object.keys(json?.['paths'] as object).toSorted()).toEqual(
      [
        '/claim',
        '/claim/{id}',
        '/claims',
        '/healthz',
        '/openapi.json',
        '/readyz',
        '/release/{id}',
        '/renew/{id}',
      ].toSorted(),
    )
    const { json: list } = await operator.send('GET', '/claims')
    expect(list).toMatchObject({ claims: expect.any(Array), pools: [{ name: 'default', failing: 0 }] })
  })
})
