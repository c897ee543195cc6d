import { Client } from '@tenure/kube'
import { ConfigMap, Pod } from '@tenure/kube/kinds'
import { VirtualClock } from '@tenure/kube/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startControlPlane } from '../control-plane.ts'
import type { ControlPlane } from '../control-plane.ts'

const clock = new VirtualClock()
let plane: ControlPlane

beforeEach(async () => {
  plane = await startControlPlane({ port: false, controllers: false, clock })
})
afterEach(() => plane.stop())

interface Answered {
  readonly status: number
  readonly body: { readonly message?: string; readonly metadata?: { readonly resourceVersion?: string } }
}

async function ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: object): Promise<Answered> {
  const headers = method === 'PATCH' ? { 'content-type': 'application/apply-patch+yaml' } : {}
  const sent = body && { body: JSON.stringify(body) }
  const response = await plane.transport.request({ method, path, headers, ...sent })
  return { status: response.status, body: JSON.parse(await response.body.text()) as Answered['body'] }
}

const MAPS = '/api/v1/namespaces/default/configmaps'
const map = (metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
})

describe('the resourceVersion of a write', () => {
  test('an apply with an empty resourceVersion and uid is not a conflict', async () => {
    const path = `${MAPS}/a?fieldManager=me`
    expect(await ask('PATCH', path, map({ resourceVersion: '', uid: '' }))).toMatchObject({ status: 201 })
    expect(await ask('PATCH', path, { ...map({ resourceVersion: '', uid: '' }), data: { a: 'b' } })).toMatchObject({
      status: 200,
      body: { data: { a: 'b' } },
    })
    expect(await ask('PATCH', path, map({ resourceVersion: '1' }))).toMatchObject({ status: 409 })
  })

  test('a dry run of a creation returns the resourceVersion that storage would refuse', async () => {
    const sent = map({ resourceVersion: '5' })
    expect(await ask('POST', `${MAPS}?dryRun=All`, sent)).toMatchObject({
      status: 201,
      body: { metadata: { resourceVersion: '5' } },
    })
    expect(await ask('POST', MAPS, sent)).toMatchObject({ status: 500 })
  })
})

const tokenAt = (rv: string, more = ''): string =>
  Buffer.from(`{"v":"meta.k8s.io/v1","rv":${rv},"start":"default/a\\u0000"${more}}`).toString('base64url')

describe('a continue token', () => {
  test('a token with an impossible version is refused', async () => {
    for (const rv of ['1e+300', '1.5', '"5"', '0']) {
      expect(await ask('GET', `${MAPS}?limit=1&continue=${tokenAt(rv)}`)).toMatchObject({ status: 400 })
    }
    expect(await ask('GET', `${MAPS}?limit=1&continue=${tokenAt('9007199254740991')}`)).toMatchObject({
      status: 504,
      body: { reason: 'Timeout' },
    })
  })

  test('a token with an impossible number of remaining objects is not believed', async () => {
    const api = new Client({ transport: plane.transport, clock })
    for (const name of ['a', 'b', 'c']) await api.create(ConfigMap, { metadata: { name, namespace: 'default' } })
    const token = tokenAt('-1', ',"n":1e300')
    const { body } = await ask('GET', `${MAPS}?limit=1&continue=${token}`)
    expect(body.metadata).not.toHaveProperty('remainingItemCount')
  })
})

test('an applied scale whose apiVersion or kind is not a text is refused as a bad request', async () => {
  const labels = { a: 'b' }
  const containers = [{ name: 'c', image: 'i' }]
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } }
  const path = '/apis/apps/v1/namespaces/default/deployments'
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'scaled' }, spec }
  expect(await ask('POST', path, deployment)).toMatchObject({ status: 201 })
  for (const sent of [
    { apiVersion: {} },
    { apiVersion: [], kind: 'Scale' },
    { apiVersion: 'autoscaling/v1', kind: 1 },
  ]) {
    const { status } = await ask('PATCH', `${path}/scaled/scale?fieldManager=me`, { ...sent, spec: { replicas: 1 } })
    expect([sent, status]).toEqual([sent, 400])
  }
})

test('objects with very many invalid labels or finalizers are refused with a bounded message', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `-${index}`)
  const labels = Object.fromEntries(names.map((name) => [name, '']))
  for (const metadata of [{ labels }, { finalizers: names }]) {
    const { status, body } = await ask('POST', MAPS, map(metadata))
    expect(status).toBe(422)
    expect(body.message?.length).toBeLessThan(2_000_000)
    expect(body.message).toContain('metadata.')
  }
})

const request = (status?: object) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'r' },
  spec: { request: 'YQ==', signerName: 'example.com/test', usages: ['client auth'] },
  ...(status && { status }),
})

test('an approval writes the conditions of a certificate request, and only those', async () => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  expect(await ask('POST', path, request())).toMatchObject({ status: 201 })
  const approved = { type: 'Approved', status: 'True', reason: 'Tested' }
  const approve = { conditions: [approved], certificate: 'YQ==' }
  const { body } = await ask('PUT', `${path}/r/approval`, request(approve))
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
  expect(body).toHaveProperty('status', {
    conditions: [{ ...approved, lastUpdateTime: now, lastTransitionTime: now }],
  })
  // A decision stays, and the status does not make one.
  expect(await ask('PUT', `${path}/r/approval`, request({ conditions: [] }))).toMatchObject({ status: 422 })
  const denied = { conditions: [approved, { ...approved, type: 'Denied' }] }
  expect(await ask('PUT', `${path}/r/status`, request(denied))).toMatchObject({ status: 422 })
})

test('discovery has the hash of the stored version of each stored resource', async () => {
  const { body } = await ask('GET', '/api/v1')
  const { resources } = body as unknown as { resources: readonly { name: string; storageVersionHash?: string }[] }
  const hashOf = (name: string): string | undefined =>
    resources.find((resource) => resource.name === name)?.storageVersionHash
  expect(hashOf('pods')).toBe('xPOwRZ+Yhw8=')
  expect(hashOf('pods/status')).toBeUndefined()
  expect(hashOf('bindings')).toBeUndefined()
})

test('without controllers, a pod needs no service account', async () => {
  const api = new Client({ transport: plane.transport, clock })
  const pod = await api.create(Pod, {
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  expect(pod.spec).not.toHaveProperty('serviceAccountName')
  expect(pod.spec).not.toHaveProperty('volumes')
})
