import { defineKind } from '@tenure/kube'
import type { KubeObject } from '@tenure/kube'
import { afterEach, expect, test } from 'vitest'
import { applicationDefinition } from '../api/crd.ts'
import { applicationOf, closeRoutes, serveRoutes, RESOURCES } from '../testing/routes-fixture.ts'

/** Upper bound for slow machines; tests wait for a condition. */
const WAIT = { timeout: 15_000 }

afterEach(closeRoutes)

const Lease = defineKind<KubeObject & { spec?: object }>({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })
const LEASE = { name: 'elide-operator-leader' }
const election = (podName: string) => ({ podName, leaderElection: {} })

test('GET / describes the operator', async () => {
  const { call } = await serveRoutes({ routes: { version: '1.2.3' } })
  await call('POST', RESOURCES, applicationOf('web'))
  expect((await call('GET', '/')).json).toEqual({
    name: 'Production Kubernetes Operator',
    version: '1.2.3',
    features: expect.arrayContaining(['Leader election']),
    resources: 1,
    isLeader: true,
    endpoints: {
      health: '/healthz',
      readiness: '/readyz',
      metrics: '/metrics',
      crd: '/crd',
      crds: '/crds',
      webhookValidate: '/validate',
      webhookMutate: '/mutate',
      leader: '/leader',
      resources: '/apis/cloudnative.elide.dev/v1/namespaces/{namespace}/applications',
      allResources: '/apis/cloudnative.elide.dev/v1/applications',
      watch: '/watch',
      events: '/events',
    },
  })
})

test('the definitions, probes and metrics are served', async () => {
  const self = 'operator-1'
  const { call } = await serveRoutes({ podName: self })
  expect((await call('GET', '/crd')).json).toEqual(applicationDefinition)
  expect((await call('GET', '/crds')).json).toEqual({ items: [applicationDefinition] })
  expect(await call('GET', '/healthz')).toMatchObject({ status: 200, text: '{"status":"healthy"}' })
  await expect.poll(() => call('GET', '/readyz'), WAIT).toMatchObject({ status: 200 })
  expect((await call('GET', '/readyz')).json).toEqual({ status: 'ready', isLeader: true, leader: self })
  expect((await call('GET', '/leader')).json).toEqual({ isLeader: true, self, identity: self, lease: null })
  const metrics = await call('GET', '/metrics')
  expect(metrics.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(metrics.text).toContain('http_requests_total{method="GET",route="/crd",code="200"} 1')
})

test('every replica shows the leader from the Lease', async () => {
  const first = await serveRoutes(election('operator-1'))
  await expect.poll(() => first.call('GET', '/leader'), WAIT).toMatchObject({ json: { isLeader: true } })
  const { server } = first
  const second = await serveRoutes({ server, ...election('operator-2') })
  const spec = server.peek(Lease, { namespace: 'default', ...LEASE })?.spec as { acquireTime: string }
  await expect
    .poll(() => second.call('GET', '/leader'), WAIT)
    .toMatchObject({
      status: 200,
      json: {
        isLeader: false,
        self: 'operator-2',
        identity: 'operator-1',
        lease: {
          holderIdentity: 'operator-1',
          leaseDuration: 15_000,
          acquireTime: spec.acquireTime,
          renewTime: expect.any(String),
          leaderTransitions: expect.any(Number),
        },
      },
    })
  await expect
    .poll(() => second.call('GET', '/readyz'), WAIT)
    .toMatchObject({
      status: 200,
      json: { status: 'ready', isLeader: false, leader: 'operator-1' },
    })
  const strict = await serveRoutes({
    server,
    ...election('operator-3'),
    routes: { readyzLeaderOnly: true },
  })
  await expect
    .poll(() => strict.call('GET', '/readyz'), WAIT)
    .toMatchObject({
      status: 503,
      json: {
        status: 'not ready',
        isLeader: false,
        leader: 'operator-1',
        problems: ['leader: this replica is not the leader'],
      },
    })
})

test('events are filtered, and an invalid filter is refused by name', async () => {
  const { call, events } = await serveRoutes()
  for (const [name, reason] of [
    ['a', 'Created'],
    ['b', 'Created'],
  ] as const) {
    events.record({
      type: 'Normal',
      reason,
      message: 'm',
      involvedObject: { kind: 'Application', namespace: 'n', name },
    })
  }
  expect(await call('GET', '/events?name=a&limit=5&kind=Application&namespace=n&severity=Info')).toMatchObject({
    status: 200,
    json: { events: [{ id: expect.any(String), reason: 'Created', involvedObject: { name: 'a' }, count: 1 }] },
  })
  expect((await call('GET', '/events?since=2100-01-01T00:00:00Z')).json).toEqual({ events: [] })
  for (const query of ['type=x', 'severity=normal', 'since=yesterday', 'limit=-1']) {
    expect({ query, ...(await call('GET', `/events?${query}`)) }).toMatchObject({
      query,
      status: 400,
      json: { details: [{ field: query.split('=', 1)[0] }] },
    })
  }
})

test('admission reviews are answered, and malformed ones get 400', async () => {
  const { call } = await serveRoutes()
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'test-123',
      kind: { group: 'cloudnative.elide.dev', version: 'v1', kind: 'Application' },
      resource: { group: 'cloudnative.elide.dev', version: 'v1', resource: 'applications' },
      operation: 'CREATE',
      userInfo: { username: 'admin' },
      object: { metadata: { name: 'test' }, spec: { replicas: 3, image: 'nginx:latest' } },
    },
  }
  expect(await call('POST', '/validate', review)).toMatchObject({
    status: 200,
    json: { kind: 'AdmissionReview', response: { uid: 'test-123', allowed: true } },
  })
  expect(await call('POST', '/mutate', review)).toMatchObject({
    status: 200,
    json: { response: { uid: 'test-123', allowed: true, patchType: 'JSONPatch' } },
  })
  for (const path of ['/validate', '/mutate']) {
    for (const body of ['', '{', {}, [], { ...review, request: {} }]) {
      expect({ path, body, ...(await call('POST', path, body)) }).toMatchObject({ path, body, status: 400 })
    }
  }
})

test('every route is in the OpenAPI document, and a wrong method gets 405 with Allow', async () => {
  const { call } = await serveRoutes()
  const { paths } = (await call('GET', '/openapi.json')).json as { paths: Record<string, Record<string, object>> }
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  )
  const resources = '/apis/cloudnative.elide.dev/v1/namespaces/{namespace}/applications'
  expect(operations).toEqual(
    expect.arrayContaining([
      ...['/', '/healthz', '/readyz', '/leader', '/crd', '/crds', '/metrics', '/watch', '/events'].map(
        (path) => `get ${path}`,
      ),
      'post /validate',
      'post /mutate',
      'get /apis/cloudnative.elide.dev/v1/applications',
      `get ${resources}`,
      `post ${resources}`,
      `get ${resources}/{name}`,
      `put ${resources}/{name}`,
      `delete ${resources}/{name}`,
    ]),
  )
  expect(paths[resources]?.['post']).toMatchObject({
    requestBody: {
      content: {
        'application/json': { schema: { properties: { spec: { properties: { replicas: { maximum: 100 } } } } } },
      },
    },
  })
  const patch = await call('PATCH', `${RESOURCES}/web`, {})
  expect(patch).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, PUT, DELETE' } })
  expect(await call('POST', '/crd', {})).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  expect(await call('GET', '/nothing')).toMatchObject({ status: 404, text: '{"error":"Not Found"}' })
})
