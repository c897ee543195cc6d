import type { Stored } from '@tenure/kube'
import { VirtualClock } from '@tenure/kube/testing'
import { Namespace } from '@tenure/kube/kinds'
import { TestControlPlane } from '@tenure/controlplane/testing'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { applicationDefinition } from '../api/crd.ts'
import { Application, FINALIZER } from '../api/index.ts'
import { refusing, refusingAsNamespaceEnds } from '../testing/objects.ts'
import { defaultImagePolicy } from '../admission/image-policy.ts'
import { applicationOf, closeRoutes, serveRoutes, RESOURCES } from '../testing/routes-fixture.ts'

/** Upper bound for slow machines; tests wait for a condition. */
const WAIT = { timeout: 15_000 }

afterEach(closeRoutes)

const ref = { namespace: 'default', name: 'web' }
const one = `${RESOURCES}/web`
const seedBody = (replicas: number, more: object = {}): object => ({
  apiVersion: 'cloudnative.elide.dev/v1',
  kind: 'Application',
  metadata: { name: 'web', ...more },
  spec: { replicas, image: 'nginx:latest', strategy: 'RollingUpdate' },
})

/** Finalizers after a POST with these, with an operator of one namespace or of all. */
async function finalizersOf(path: string, given?: readonly string[], namespace?: string): Promise<unknown> {
  const { call, server } = await serveRoutes({ routes: { namespace } })
  server.seed(Namespace, { metadata: { name: 'other' } })
  const { status, json } = await call('POST', path, seedBody(1, given && { finalizers: given }))
  expect(status).toBe(201)
  return (json as Stored<Application>).metadata.finalizers
}

describe('POST', () => {
  test('an Application that is too large to be stored is the error of the caller', async () => {
    const { call } = await serveRoutes()
    const references = Array.from({ length: 16_000 }, (_, index) => {
      return { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${index}`, uid: `uid-${index}-${'u'.repeat(30)}` }
    })
    const body = seedBody(1, { ownerReferences: references })
    const error = 'The Application is too large to be stored'
    expect(await call('POST', RESOURCES, body)).toMatchObject({ status: 413, json: { error } })
    expect(await call('GET', one)).toMatchObject({ status: 404 })
  })

  test('a created Application can be read at once, indented and without managedFields', async () => {
    const { call, server } = await serveRoutes()
    const body = {
      ...seedBody(3, { uid: 'mine', resourceVersion: '', managedFields: [] }),
      status: { phase: 'Running' },
    }
    const created = await call('POST', RESOURCES, body)
    expect(created).toMatchObject({
      status: 201,
      json: {
        apiVersion: 'cloudnative.elide.dev/v1',
        kind: 'Application',
        metadata: { name: 'web', namespace: 'default', generation: 1 },
        spec: { replicas: 3, image: 'nginx:latest', strategy: 'RollingUpdate' },
      },
    })
    expect(created.text).toMatch(/^\{\n {2}"apiVersion": /)
    expect(created.json).toHaveProperty('status', { observedGeneration: -1, phase: 'Pending' })
    expect(created.json).not.toHaveProperty('metadata.managedFields')
    expect(created.json).not.toHaveProperty('metadata.uid', 'mine')
    // The watch is blocked: the cache still shows the own write.
    server.holdWatches()
    expect(await call('GET', one)).toMatchObject({ status: 200, json: created.json as object })
    expect(server.peek(Application, ref)?.spec.replicas).toBe(3)
  })

  test.each([
    ['{"a":', 'Invalid JSON', undefined],
    ['', 'Invalid JSON', undefined],
    ['[]', 'Validation failed', [{ field: 'body', message: 'Expected object, got array' }]],
    [
      seedBody(150),
      'Validation failed',
      [{ field: 'spec.replicas', message: 'Value must be at most 100', value: 150 }],
    ],
    [seedBody(-1), 'Validation failed', [{ field: 'spec.replicas', message: 'Value must be at least 0', value: -1 }]],
    [
      { metadata: { name: 'web' }, spec: { replicas: '3', image: 'x' } },
      'Validation failed',
      [{ field: 'spec.replicas', message: 'Expected integer, got string', value: '3' }],
    ],
    [
      { metadata: { name: 'web' }, spec: { replicas: 3 } },
      'Validation failed',
      [{ field: 'spec.image', message: 'Required field is missing' }],
    ],
    [
      { metadata: { name: 'web', namespace: 'other' }, spec: { replicas: 3, image: 'x' } },
      'Validation failed',
      [{ field: 'metadata.namespace', message: 'Value must equal the namespace in the URL: default', value: 'other' }],
    ],
    [
      { spec: { replicas: 3, image: 'x' } },
      'Validation failed',
      [{ field: 'metadata.name', message: 'Resource name is required' }],
    ],
    [
      seedBody(3, { resourceVersion: '7' }),
      'Validation failed',
      [
        {
          field: 'metadata.resourceVersion',
          message: 'A resource that is to be created has no resourceVersion',
          value: '7',
        },
      ],
    ],
    [
      { metadata: { name: 'web' }, spec: { replicas: 3, image: ' \t' } },
      'Validation failed',
      [{ field: 'spec.image', message: 'Required field is missing', value: ' \t' }],
    ],
  ])('the body %j is refused', async (body, error, details) => {
    const { call, server } = await serveRoutes()
    server.clearRequests()
    const answer = await call('POST', RESOURCES, body)
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({ error, ...(details && { details }) })
    expect(server.requests.filter(({ plural, verb }) => plural === 'applications' && verb === 'create')).toEqual([])
  })

  test('a refused body is recorded as an event', async () => {
    const { call } = await serveRoutes()
    await call('POST', RESOURCES, seedBody(150))
    await call('POST', RESOURCES, seedBody(150))
    expect(await call('GET', '/events?type=Warning')).toMatchObject({
      status: 200,
      json: {
        events: [
          {
            reason: 'ValidationFailed',
            message: 'spec.replicas: Value must be at most 100',
            involvedObject: { kind: 'Application', namespace: 'default', name: 'web' },
            count: 2,
          },
        ],
      },
    })
  })

  test('a conflict and errors of the API server are reported to the caller', async () => {
    const { call, server } = await serveRoutes()
    await call('POST', RESOURCES, seedBody(3))
    expect(await call('POST', RESOURCES, seedBody(3))).toMatchObject({
      status: 409,
      text: '{"error":"Resource already exists"}',
    })
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.x', message: 'Invalid value: 5: must be odd' }]
    const end = server.intercept(({ verb }) =>
      verb === 'create' ? refusing(422, 'Invalid', 'no', { causes }) : undefined,
    )
    expect(await call('POST', RESOURCES, seedBody(3))).toMatchObject({
      status: 400,
      json: { error: 'Validation failed', details: [{ field: 'spec.x', message: 'must be odd', value: 5 }] },
    })
    expect(await call('GET', '/events?type=Warning')).toMatchObject({
      json: {
        events: [{ reason: 'ValidationFailed', message: 'spec.x: must be odd', involvedObject: { name: 'web' } }],
      },
    })
    end()
    server.intercept(({ verb }) => (verb === 'create' ? 'drop' : undefined))
    expect(await call('POST', RESOURCES, seedBody(3))).toMatchObject({
      status: 503,
      json: { error: 'The Kubernetes API cannot be reached now' },
    })
  })

  test('the finalizer is set in namespaces that the controller watches only', async () => {
    const elsewhere = '/apis/cloudnative.elide.dev/v1/namespaces/other/applications'
    expect(await finalizersOf(RESOURCES)).toEqual([FINALIZER])
    expect(await finalizersOf(elsewhere)).toEqual([FINALIZER])
    expect(await finalizersOf(RESOURCES, ['a/b'])).toEqual(['a/b', FINALIZER])
    expect(await finalizersOf(RESOURCES, [FINALIZER, 'a/b'])).toEqual([FINALIZER, 'a/b'])
    expect(await finalizersOf(RESOURCES, undefined, 'default')).toEqual([FINALIZER])
    expect(await finalizersOf(elsewhere, undefined, 'default')).toBeUndefined()
    expect(await finalizersOf(elsewhere, ['a/b'], 'default')).toEqual(['a/b'])
  })

  test('a terminating namespace is answered with 409', async () => {
    const { call, server } = await serveRoutes()
    server.intercept(({ verb }) => (verb === 'create' ? refusingAsNamespaceEnds() : undefined))
    expect(await call('POST', RESOURCES, seedBody(1))).toMatchObject({
      status: 409,
      text: '{"error":"Namespace is being deleted"}',
    })
  })

  test('the image policy applies if it is turned on', async () => {
    const { call } = await serveRoutes({ routes: { policy: defaultImagePolicy } })
    const body = { metadata: { name: 'web' }, spec: { replicas: 1, image: 'docker.io/library/ubuntu' } }
    expect(await call('POST', RESOURCES, body)).toMatchObject({
      status: 400,
      json: { details: [{ field: 'spec.image', message: expect.stringContaining('is not allowed') }] },
    })
  })

  test("a missing namespace is created only if the settings and the caller's permissions allow it", async () => {
    const path = '/apis/cloudnative.elide.dev/v1/namespaces/test/applications'
    const missing = await serveRoutes()
    expect(await missing.call('POST', path, seedBody(1))).toMatchObject({
      status: 404,
      text: '{"error":"Namespace not found"}',
    })
    const { server } = missing
    const willing = await serveRoutes({ server, routes: { createNamespaces: true } })
    expect(await willing.call('POST', path, seedBody(1))).toMatchObject({
      status: 201,
      json: { metadata: { namespace: 'test' } },
    })
    expect(server.peek(Namespace, { name: 'test' })).toBeDefined()
    const bad = '/apis/cloudnative.elide.dev/v1/namespaces/No_Name/applications'
    expect(await willing.call('POST', bad, seedBody(1))).toMatchObject({
      status: 400,
      json: { details: [{ field: 'metadata.namespace', value: 'No_Name' }] },
    })
  })
})

describe('PUT', () => {
  test('the last write wins, and identity, finalizers and owners are kept', async () => {
    const { call, server } = await serveRoutes()
    const before = server.seed(
      Application,
      applicationOf('web', {
        metadata: {
          ...ref,
          finalizers: ['keep/me'],
          labels: { a: '1' },
          annotations: { ttl: '1h' },
          ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }],
        },
        status: { phase: 'Running' },
      }),
    )
    await expect.poll(() => call('GET', one), WAIT).toMatchObject({ status: 200 })
    const answer = await call('PUT', one, {
      ...seedBody(5, { labels: { b: '2' }, finalizers: [] }),
      status: { phase: 'Failed' },
    })
    expect(answer).toMatchObject({
      status: 200,
      json: {
        metadata: {
          uid: before.metadata.uid,
          creationTimestamp: before.metadata.creationTimestamp,
          generation: 2,
          labels: { b: '2' },
          annotations: { ttl: '1h' },
          finalizers: ['keep/me'],
          ownerReferences: [{ uid: 'x' }],
        },
        spec: { replicas: 5 },
        status: { phase: 'Running' },
      },
    })
    expect(answer.json).not.toHaveProperty('metadata.labels.a')
    expect(await call('GET', one)).toMatchObject({ json: { spec: { replicas: 5 } } })
  })

  test('a PUT without a resourceVersion wins every race, and one with a stale version gets 409', async () => {
    const { call, server } = await serveRoutes()
    const created = (await call('POST', RESOURCES, seedBody(1))).json as Stored<Application>
    server.holdWatches()
    let others = 0
    server.intercept(({ verb }) => {
      // Another write comes first, three times in a row.
      if (verb === 'update' && others++ < 3)
        server.seed(Application, applicationOf('web', { spec: { replicas: others, image: 'x' } }))
      return undefined
    })
    expect(await call('PUT', one, seedBody(7))).toMatchObject({ status: 200, json: { spec: { replicas: 7 } } })
    const stale = seedBody(8, { resourceVersion: created.metadata.resourceVersion })
    expect(await call('PUT', one, stale)).toMatchObject({
      status: 409,
      json: { error: 'Conflict', details: [{ field: 'metadata.resourceVersion' }] },
    })
    const { metadata } = (await call('GET', one)).json as Stored<Application>
    const fresh = seedBody(9, { resourceVersion: metadata.resourceVersion })
    expect(await call('PUT', one, fresh)).toMatchObject({ status: 200, json: { spec: { replicas: 9 } } })
    expect(await call('PUT', one, seedBody(9, { uid: 'another' }))).toMatchObject({ status: 409 })
  })

  test('a PUT that leaves the spec as it is counts as Updated; the controller counts changes of the spec', async () => {
    const { call } = await serveRoutes()
    await call('POST', RESOURCES, seedBody(1))
    await call('PUT', one, seedBody(2))
    expect(await call('GET', '/events')).toMatchObject({ json: { events: [] } })
    await call('PUT', one, seedBody(2))
    await call('PUT', one, seedBody(2, { labels: { tier: 'web' } }))
    expect(await call('PUT', one, seedBody(-1))).toMatchObject({ status: 400 })
    expect(await call('GET', '/events?type=Normal')).toMatchObject({
      json: { events: [{ reason: 'Updated', count: 2, involvedObject: { kind: 'Application', ...ref } }] },
    })
  })

  test('an empty resourceVersion or uid counts as none, and an invalid version is refused', async () => {
    const { call, server } = await serveRoutes()
    await call('POST', RESOURCES, seedBody(1))
    const empty = seedBody(2, { resourceVersion: '', uid: '', namespace: '' })
    expect(await call('PUT', one, empty)).toMatchObject({ status: 200, json: { spec: { replicas: 2 } } })
    const updates = server.requests.filter(({ verb }) => verb === 'update').length
    for (const resourceVersion of ['abc', '-1', '1.5', '18446744073709551616']) {
      const details = [{ field: 'metadata.resourceVersion', value: resourceVersion }]
      expect(await call('PUT', one, seedBody(3, { resourceVersion }))).toMatchObject({
        status: 400,
        json: { error: 'Validation failed', details },
      })
    }
    expect(server.requests.filter(({ verb }) => verb === 'update')).toHaveLength(updates)
  })

  test('a PUT is answered with 404 before the body is validated, and finds objects that the cache lacks', async () => {
    const { call, server } = await serveRoutes()
    expect(await call('PUT', one, 'rubbish')).toMatchObject({ status: 404, text: '{"error":"Resource not found"}' })
    server.holdWatches()
    server.seed(Application, applicationOf('web'))
    expect(await call('PUT', one, 'rubbish')).toMatchObject({ status: 400, text: '{"error":"Invalid JSON"}' })
    expect(await call('PUT', one, seedBody(4))).toMatchObject({ status: 200, json: { spec: { replicas: 4 } } })
    expect(await call('PUT', one, { ...seedBody(4), metadata: { name: 'other' } })).toMatchObject({
      status: 400,
      json: { details: [{ field: 'metadata.name', value: 'other' }] },
    })
  })
})

describe('DELETE', () => {
  test('a DELETE is answered with Success, and with 404 for a missing Application', async () => {
    const { call, server } = await serveRoutes()
    // Without the finalizer, which only the controller removes.
    server.seed(Application, applicationOf('web'))
    await expect.poll(() => call('GET', one), WAIT).toMatchObject({ status: 200 })
    expect(await call('DELETE', one)).toMatchObject({ status: 200, text: '{"status":"Success"}' })
    expect(await call('GET', one)).toMatchObject({ status: 404, text: '{"error":"Resource not found"}' })
    expect(await call('DELETE', one)).toMatchObject({ status: 404, text: '{"error":"Resource not found"}' })
  })
})

describe('a name that no object can have', () => {
  const names = ['..', '%2e%2e', '.', '%2e', 'x%2fstatus', '%2fstatus', 'a%25b', 'a%20b', 'A', '-a', '%00']
  test.each([...names, 254, 1_025])('a name of that kind is answered with 404: %s', async (each) => {
    const name = typeof each === 'number' ? 'a'.repeat(each) : each
    const { call, server } = await serveRoutes()
    const elsewhere = `/apis/cloudnative.elide.dev/v1/namespaces/${name}/applications/web`
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      for (const path of [`${RESOURCES}/${name}`, elsewhere]) {
        const body = method === 'PUT' ? seedBody(1) : undefined
        expect({ method, ...(await call(method, path, body)) }).toMatchObject({ method, status: 404 })
      }
    }
    const sent = server.requests.filter(({ verb }) => ['get', 'update', 'delete'].includes(verb))
    expect(sent.filter(({ plural }) => plural === 'applications')).toEqual([])
  })
})

describe('lists', () => {
  test('lists are ordered, filtered and paged', async () => {
    const { call, server } = await serveRoutes()
    for (const [namespace, name, tier] of [
      ['b', 'x', 'web'],
      ['a', 'y', 'db'],
      ['a', 'x', 'web'],
      ['a-b', 'x', 'web'],
    ] as const) {
      server.seed(Application, applicationOf(name, { metadata: { namespace, name, labels: { tier } } }))
    }
    const all = '/apis/cloudnative.elide.dev/v1/applications'
    const keys = async (path: string): Promise<readonly string[]> => {
      const { items } = (await call('GET', path)).json as { items: Stored<Application>[] }
      return items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    }
    await expect.poll(() => keys(all), WAIT).toEqual(['a-b/x', 'a/x', 'a/y', 'b/x'])
    expect(await keys('/apis/cloudnative.elide.dev/v1/namespaces/a/applications')).toEqual(['a/x', 'a/y'])
    expect(await keys('/apis/cloudnative.elide.dev/v1/namespaces/none/applications')).toEqual([])
    expect(await keys(`${all}?labelSelector=tier%20in%20(web)`)).toEqual(['a-b/x', 'a/x', 'b/x'])
    expect(await keys(`${all}?fieldSelector=metadata.name%3Dx,metadata.namespace!%3Db`)).toEqual(['a-b/x', 'a/x'])
    const first = await call('GET', `${all}?limit=3`)
    expect(first.json).toMatchObject({
      kind: 'ApplicationList',
      apiVersion: 'cloudnative.elide.dev/v1',
      metadata: { remainingItemCount: 1, resourceVersion: expect.stringMatching(/^\d+$/) },
    })
    const token = (first.json as { metadata: { continue: string } }).metadata.continue
    const second = await call('GET', `${all}?limit=3&continue=${token}`)
    expect(second.json).toMatchObject({ items: [{ metadata: { namespace: 'b' } }] })
    expect(second.json).not.toHaveProperty('metadata.continue')
    for (const query of [
      'limit=x',
      'limit=-1',
      'continue=x',
      'labelSelector=%3D',
      'fieldSelector=spec.replicas%3D3',
      'limit=1&limit=2',
    ]) {
      expect({ query, ...(await call('GET', `${all}?${query}`)) }).toMatchObject({
        query,
        status: 400,
        json: { error: 'Validation failed', details: [{ field: query.split('=', 1)[0] }] },
      })
    }
  })

  test('a list before the cache is synced is answered with 503', async () => {
    const clock = new VirtualClock()
    const server = await TestControlPlane.start({ clock, crds: [applicationDefinition] })
    onTestFinished(() => server.stop())
    server.intercept(({ verb }) => (verb === 'list' || verb === 'watch' ? 'drop' : undefined))
    const { call } = await serveRoutes({ server, clock })
    const answers: unknown[] = []
    const asking = call('GET', RESOURCES).then((answer) => answers.push(answer))
    // Time must pass until the request times out, but not before it arrives.
    while (answers.length === 0) await clock.advance(1_000)
    await asking
    expect(answers).toMatchObject([{ status: 503, headers: { 'retry-after': '1' } }])
  })
})
