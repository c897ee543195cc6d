/** Tests a real operator process with malicious and wrong requests. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import { ApplicationsFixture, type Replica } from './programs-under-test/applications.ts'
import { monotonic } from './programs-under-test/child.ts'
import { until } from './support/until.ts'

const MEBIBYTE = 1024 * 1024
const IMAGE = 'nginx:1.29'
const JSON_TYPE = { 'content-type': 'application/json' }

let fixture: ApplicationsFixture
let operator: Replica

beforeAll(async () => {
  fixture = await ApplicationsFixture.open(workerKubeconfig())
  operator = await fixture.start('only')
  await operator.whenReady()
})

afterAll(() => fixture.close())

const route = (): string => `/apis/cloudnative.elide.dev/v1/namespaces/${fixture.namespace}/applications`

/** Returns the status and body of the response. */
async function post(body: string | Uint8Array<ArrayBuffer>): Promise<readonly [status: number, answer: unknown]> {
  const answer = await operator.fetch(route(), { method: 'POST', headers: JSON_TYPE, body })
  return [answer.status, await answer.json()]
}

const postApplication = (metadata: object, spec: unknown, more: object = {}) =>
  post(JSON.stringify({ metadata, spec, ...more }))

const failedOn = (...details: readonly object[]) => [400, { error: 'Validation failed', details }]

/** Returns the response to bytes that no HTTP library would send. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(operator.url).port), host: '127.0.0.1' })
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
    socket.once('error', reject)
    socket.once('close', () => resolve(answer))
    socket.write(text)
  })
}

async function expectResponsive(): Promise<void> {
  const began = monotonic()
  expect((await operator.fetch('/readyz')).status).toBe(200)
  // The limit allows for a busy machine; normally it takes a few milliseconds.
  expect(monotonic() - began).toBeLessThan(5_000)
}

describe('bad input', () => {
  test('a body that is not JSON, too large or too deep is rejected with the reason', async () => {
    expect(await post('{"metadata":')).toEqual([400, { error: 'Invalid JSON' }])
    expect(await post('')).toEqual([400, { error: 'Invalid JSON' }])
    expect(await post(Buffer.from([0x22, 0xff, 0x22]))).toEqual([400, { error: 'Invalid JSON' }])
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    expect(await post(deep)).toEqual([400, { error: 'JSON is nested more than 100 levels deep' }])
    expect(await post('{"__proto__":{"x":1}}')).toEqual([400, { error: 'JSON must not have the key "__proto__"' }])

    const before = await operator.memory()
    const large = JSON.stringify({ metadata: { name: 'large' }, spec: { x: 'x'.repeat(10 * MEBIBYTE) } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(large)))
    expect(answers.map(([status]) => status)).toEqual(answers.map(() => 413))
    expect((await operator.memory()) - before).toBeLessThan(100 * MEBIBYTE)
    await expectResponsive()
  })

  test('wrong types and names are rejected with the field', async () => {
    const image = IMAGE
    expect(await postApplication({ name: 'x' }, { replicas: 'three', image })).toEqual(
      failedOn({ field: 'spec.replicas', message: 'Expected integer, got string', value: 'three' }),
    )
    expect(await postApplication({ name: 'x' }, { replicas: 150, image })).toEqual(
      failedOn({ field: 'spec.replicas', message: 'Value must be at most 100', value: 150 }),
    )
    expect(await postApplication({ name: 'x' }, { replicas: 1 })).toEqual(
      failedOn({ field: 'spec.image', message: 'Required field is missing' }),
    )
    expect(await postApplication({}, { replicas: 1, image })).toEqual(
      failedOn({ field: 'metadata.name', message: 'Resource name is required' }),
    )
    for (const spec of [null, [], 'text', 7, true]) {
      const [status, answer] = await postApplication({ name: 'x' }, spec)
      expect([status, answer]).toMatchObject([400, { error: 'Validation failed' }])
    }
    for (const name of ['Shop', 'a.b', '-a', 'a_b', '../../secrets', 'x'.repeat(64), 'a b', 'é', 7, null]) {
      const [status, answer] = await postApplication({ name }, { replicas: 1, image })
      expect([status, answer]).toMatchObject([
        400,
        { error: 'Validation failed', details: [{ field: 'metadata.name' }] },
      ])
    }
    for (const body of ['null', '[]', '7', '"text"']) {
      expect(await post(body)).toMatchObject([400, { error: 'Validation failed' }])
    }
    expect(await fixture.kubectl('get', 'applications', '-o', 'name')).toBe('')
  })

  test('a body that contradicts the URL is rejected', async () => {
    const spec = { replicas: 1, image: IMAGE }
    expect(await postApplication({ name: 'x', namespace: 'elsewhere' }, spec)).toMatchObject([
      400,
      { error: 'Validation failed', details: [{ field: 'metadata.namespace' }] },
    ])
    expect(await postApplication({ name: 'mine' }, spec)).toMatchObject([201, { metadata: { name: 'mine' } }])
    expect(await postApplication({ name: 'mine' }, spec)).toEqual([409, { error: 'Resource already exists' }])
    const put = await operator.send('PUT', `${route()}/mine`, { metadata: { name: 'theirs' }, spec })
    expect([put.status, await put.json()]).toMatchObject([400, { details: [{ field: 'metadata.name' }] }])
    expect(await postApplication({ name: 'x' }, spec, { kind: 'Pod' })).toMatchObject([
      400,
      { details: [{ field: 'kind' }] },
    ])
    const missing = await operator.send('PUT', `${route()}/missing`, { spec })
    expect([missing.status, await missing.json()]).toEqual([404, { error: 'Resource not found' }])
    const nowhere = '/apis/cloudnative.elide.dev/v1/namespaces/nowhere/applications'
    const lost = await operator.send('POST', nowhere, { metadata: { name: 'x' }, spec })
    expect([lost.status, await lost.json()]).toEqual([404, { error: 'Namespace not found' }])
  })

  test('unknown methods and paths are rejected with the allowed ones', async () => {
    const patched = await operator.send('PATCH', `${route()}/mine`, {})
    expect([patched.status, patched.headers.get('allow')]).toEqual([405, expect.stringContaining('PUT')])
    const unknown = await operator.fetch('/no/such/thing')
    expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'Not Found' }])
    expect(await sendRaw('FROB / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: GET/)
    expect(await sendRaw('\u0000\u0001 rubbish\r\n\r\n')).toMatch(/^HTTP\/1\.1 40\d/)
    const headers = 'X-Long: '.concat('x'.repeat(100_000))
    expect(await sendRaw(`GET / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
    await expectResponsive()
  })
})

test('a thousand idle readers are cheap, all receive an event, and leave no resources', async () => {
  const readers = 1_000
  const before = await operator.memory()
  const agent = new Agent({ maxSockets: readers, keepAlive: false })
  const streams = await Promise.all(Array.from({ length: readers }, () => openStream(agent)))
  try {
    expect(streams.every(({ statusCode }) => statusCode === 200)).toBe(true)
    const received = new Set<number>()
    for (const [index, stream] of streams.entries()) {
      stream.setEncoding('utf8').on('data', (text: string) => void (text.includes('"received"') && received.add(index)))
    }
    await expectResponsive()
    expect(await postApplication({ name: 'received' }, { replicas: 1, image: IMAGE })).toMatchObject([201, {}])
    await until(
      () => `readers that received the event: ${received.size} of ${readers}`,
      () => received.size === readers,
    )
    await expectResponsive()
    expect((await operator.memory()) - before).toBeLessThan(150 * MEBIBYTE)
  } finally {
    for (const stream of streams) stream.destroy()
    agent.destroy()
  }
  await fixture.whenReady('received', 'mine')
  await fixture.kubectl('delete', 'applications', '--all', '--timeout=90s')
  await expectResponsive()
  await fixture.stop(operator)
})

function openStream(agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${operator.url}/watch`, { agent }, (answer) => {
      // The request is aborted at the end of the test.
      answer.on('error', () => undefined)
      resolve(answer)
    })
    sent.on('error', reject)
    sent.end()
  })
}
