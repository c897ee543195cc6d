import { type AccessControl, HttpError } from '@tenure/http'
import { ConfigMap, Deployment, Node, Pod } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SEED_FAMILY } from '../api/annotations.ts'
import { createKindController } from '../controllers/lease/kind-controller.ts'
import { LeaseControllerHarness } from '../testing/lease-controller-harness.ts'
import { deploymentSpec, podSpec } from '../testing/objects.ts'
import type { LeaseRow } from './views/leases-view.ts'

const SEED = SEED_FAMILY.prefix
const PATH = '/api/v1/leases'
const HOUR = 3_600_000

let harness: LeaseControllerHarness
beforeEach(async () => {
  harness = await LeaseControllerHarness.create()
})
afterEach(() => harness.stop())

/** Waits in small steps: the server's sockets work in real time. */
async function until(condition: () => boolean): Promise<void> {
  for (let passed = 0; !condition(); passed += 20) {
    if (passed > 120_000) throw new Error(`Not met: ${String(condition)}`)
    await harness.clock.advance(20)
  }
}

async function start(served: 'open' | AccessControl = 'open'): Promise<void> {
  await harness.start({ createController: createKindController, served })
  harness.put('maps', { kind: 'ConfigMap' })
  harness.put('nodes', { kind: 'Node' })
  await until(() => harness.ready('maps') === 'True Running' && harness.ready('nodes') === 'True Running')
}

const ref = { name: 'x', namespace: 'default' }
const X = { apiVersion: 'v1', kind: 'ConfigMap', ...ref }
const seedMap = (annotations: Readonly<Record<string, string>> = {}): unknown =>
  harness.server.seed(ConfigMap, { metadata: { ...ref, annotations } })
const annotations = (): Readonly<Record<string, string>> =>
  harness.server.peek(ConfigMap, ref)?.metadata.annotations ?? {}
const post = (body: object) => harness.call('POST', PATH, body)
const row = () => harness.view('leases').row('configmaps/default/x') as LeaseRow | undefined

describe('POST /api/v1/leases', () => {
  test('a lease is set, extended and removed, and its row follows', async () => {
    await start()
    seedMap({ other: 'x' })
    const set = await post({ ...X, ttl: '1h' })
    expect(set).toMatchObject({ status: 200, json: { ttl: '1h' } })
    const { expiresAt = 0 } = set.json as { expiresAt?: number }
    expect(expiresAt).toBeGreaterThan(harness.clock.now() + HOUR - 10_000)
    await until(() => row()?.expiresAt === expiresAt)
    const extended = await post({ ...X, extend: '30m' })
    expect(extended).toEqual({ status: 200, json: { expiresAt: expiresAt + HOUR / 2, ttl: '1h30m' } })
    await until(() => row()?.expiresAt === expiresAt + HOUR / 2)
    expect(row()).toMatchObject({ ttl: '1h30m', leaseStart: expiresAt - HOUR })
    expect(await post({ ...X, ttl: null })).toEqual({ status: 200, json: {} })
    await until(() => row() === undefined)
    expect(annotations()).toEqual({ other: 'x' })
    expect(await post({ ...X, ttl: null })).toEqual({ status: 200, json: {} })
  })

  test('a time, a date and forever are accepted as on the command line', async () => {
    await start()
    seedMap()
    const expiresAt = Date.UTC(2026, 5, 11)
    expect(await post({ ...X, ttl: '2026-06-11' })).toEqual({ status: 200, json: { expiresAt } })
    expect(annotations()).toMatchObject({ [`${SEED}expires`]: '2026-06-11T00:00:00Z' })
    expect(await post({ ...X, extend: '1d' })).toEqual({ status: 200, json: { expiresAt: expiresAt + 24 * HOUR } })
    expect(await post({ ...X, ttl: ' forever ' })).toEqual({ status: 200, json: { ttl: 'forever' } })
    expect(annotations()).toMatchObject({ [`${SEED}ttl`]: 'forever' })
  })

  test('an object without a namespace has a lease, too', async () => {
    await start()
    harness.server.seed(Node, { metadata: { name: 'n' } })
    const node = { apiVersion: 'v1', kind: 'Node', name: 'n', ttl: '1d' }
    expect(await post({ ...node, namespace: 'default' })).toMatchObject({ status: 200 })
    expect(harness.server.peek(Node, { name: 'n' })?.metadata.annotations).toMatchObject({ [`${SEED}ttl`]: '1d' })
  })

  test('an extension keeps a change of another client that comes between', async () => {
    await start()
    seedMap({ [`${SEED}ttl`]: '1h' })
    await until(() => row()?.expiresAt !== undefined)
    let isFirst = true
    harness.server.intercept(({ plural, verb }) => {
      if (verb === 'patch' && plural === 'configmaps' && isFirst) {
        isFirst = false
        seedMap({ ...annotations(), note: 'mine', [`${SEED}ttl`]: '3h' })
      }
      return undefined
    })
    expect(await post({ ...X, extend: '1h' })).toMatchObject({ status: 200, json: { ttl: '4h' } })
    expect(annotations()).toMatchObject({ note: 'mine', [`${SEED}ttl`]: '4h' })
  })

  test.each<[object, number, object]>([
    [{ ttl: '1h30' }, 400, { details: [{ field: 'ttl', message: expect.stringContaining('30 has no unit') }] }],
    [{ ttl: '' }, 400, { details: [{ field: 'ttl' }] }],
    [{ ttl: '0s' }, 400, { details: [{ field: 'ttl', message: expect.stringContaining('ends at once') }] }],
    [{ ttl: '2020-01-01' }, 400, { details: [{ field: 'ttl', message: expect.stringContaining('has passed') }] }],
    [{ ttl: 5 }, 400, { details: [{ field: 'ttl' }] }],
    [{ ttl: '1'.repeat(300) }, 400, { details: [{ field: 'ttl' }] }],
    [{}, 400, { details: [{ field: 'ttl', message: 'Give either ttl or extend' }] }],
    [{ ttl: '1h', extend: '1h' }, 400, { details: [{ field: 'ttl' }] }],
    [{ extend: 'forever' }, 400, { details: [{ field: 'extend' }] }],
    [{ extend: '1h' }, 409, { error: 'configmap/x has no lease to extend: set one.' }],
    [{ ttl: '1h', more: 1 }, 400, { error: 'Validation failed' }],
    [{ ttl: '1h', name: 'missing' }, 404, { error: 'The object does not exist' }],
    [{ ttl: null, name: 'missing' }, 404, { error: 'The object does not exist' }],
    [{ ttl: '1h', name: '../nodes/n' }, 404, { error: 'The object does not exist' }],
    [{ ttl: '1h', name: '..' }, 404, { error: 'The object does not exist' }],
    [{ ttl: '1h', namespace: '../kube-system' }, 404, { error: 'The object does not exist' }],
    [{ ttl: '1h', namespace: 'elsewhere' }, 404, { error: 'The object does not exist' }],
    [{ ttl: '1h', namespace: undefined }, 400, { details: [{ field: 'namespace' }] }],
    [{ ttl: '1h', kind: 'Unicorn' }, 404, { error: 'The API server does not serve Unicorn (v1)' }],
    [{ ttl: '1h', apiVersion: 'example.dev/v1' }, 404, { error: expect.stringContaining('does not serve ConfigMap') }],
    [{ ttl: '1h', apiVersion: 'a/b/c' }, 400, { details: [{ field: 'apiVersion' }] }],
  ])('a body with %j is answered with %i, and nothing is written', async (change, status, json) => {
    await start()
    seedMap()
    expect(await post({ ...X, ...change })).toMatchObject({ status, json })
    expect(annotations()).toEqual({})
  })

  test('a kind without a LeaseController is refused, except to remove a lease', async () => {
    await start()
    const pod = { apiVersion: 'v1', kind: 'Pod', ...ref }
    harness.server.seed(Pod, { metadata: { ...ref, annotations: { [`${SEED}ttl`]: '1h' } }, spec: podSpec })
    expect(await post({ ...pod, ttl: '2h' })).toMatchObject({
      status: 409,
      json: { error: expect.stringMatching(/^No LeaseController manages pods: apply one first/) },
    })
    expect(await post({ ...pod, extend: '2h' })).toMatchObject({ status: 409 })
    expect(await post({ ...pod, ttl: null })).toMatchObject({ status: 200 })
    expect(harness.server.peek(Pod, ref)?.metadata.annotations ?? {}).toEqual({})
    harness.put('pods', { kind: 'Pod' })
    await until(() => harness.ready('pods') === 'True Running')
    expect(await post({ ...pod, ttl: '2h' })).toMatchObject({ status: 200 })
  })

  test('an object that is being deleted, and one that a policy protects, keeps its lease, with the reason', async () => {
    await start()
    harness.server.seed(ConfigMap, {
      metadata: { ...ref, finalizers: ['example.dev/hold'], deletionTimestamp: '2026-01-01T00:00:00Z' },
    })
    const deleting = await post({ ...X, ttl: '1h' })
    expect(deleting).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining('is already being deleted') },
    })
    harness.server.unseed(ConfigMap, ref)
    seedMap()
    const refusing = (message: string) =>
      harness.server.intercept(({ plural, verb }) =>
        verb === 'patch' && plural === 'configmaps' ? refuse(403, 'Forbidden', message) : undefined,
      )
    const endDenial = refusing('admission webhook "policy.example.dev" denied the request: leases are frozen')
    const denied = await post({ ...X, ttl: '1h' })
    expect(denied).toMatchObject({ status: 403, json: { error: expect.stringContaining('leases are frozen') } })
    endDenial()
    // The operator itself lacks the permission.
    refusing('configmaps "x" is forbidden: User "operator" cannot patch resource "configmaps"')
    expect(await post({ ...X, ttl: '1h' })).toMatchObject({ status: 502 })
  })

  test('the caller needs the permission to patch the object, by its resource', async () => {
    const asked: object[] = []
    await start({
      authenticate: () => Promise.resolve({ name: 'jane', groups: [] }),
      authorize: (_user, access) => {
        if (typeof access !== 'object' || !('group' in access)) return Promise.resolve()
        if (access.group === 'authorization.k8s.io') return Promise.resolve()
        asked.push(access)
        if (access.resource === 'configmaps') return Promise.resolve()
        return Promise.reject(new HttpError('TENURE_HTTP_FORBIDDEN', 403, 'User "jane" may not patch'))
      },
    })
    seedMap()
    harness.server.seed(Deployment, { metadata: ref, spec: deploymentSpec })
    const ended = await post({ apiVersion: 'apps/v1', kind: 'Deployment', ...ref, ttl: '1h' })
    expect(ended).toMatchObject({ status: 403, json: { error: 'User "jane" may not patch' } })
    expect(await post({ ...X, ttl: '1h' })).toMatchObject({ status: 200 })
    expect(asked).toEqual([
      { group: 'apps', resource: 'deployments', verb: 'patch', ...ref },
      { group: '', resource: 'configmaps', verb: 'patch', ...ref },
    ])
  })

  test('the route is in the OpenAPI document', async () => {
    await start()
    const { json } = await harness.call('GET', '/openapi.json')
    const { paths } = json as { paths: Record<string, Record<string, object>> }
    expect(paths[PATH]?.['post']).toMatchObject({ tags: ['leases'], requestBody: expect.anything() })
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/v1/views/leases', '/api/v1/views/lease-controllers']),
    )
  })
})
