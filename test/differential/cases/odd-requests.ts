/** Unusual requests, both valid and invalid. */
import type { Case, CaseGroup, Json } from '../case.ts'
import { configMap, container, deployment, lease, pod, podTemplate, secret } from '../objects.ts'
import {
  apply,
  APPLY_PATCH,
  BY_CONTROLLERS,
  core,
  create,
  get,
  JSON_PATCH,
  MERGE_PATCH,
  named,
  patch,
  read,
  remove,
  STRATEGIC_PATCH,
  update,
  watch,
} from '../steps.ts'

const maps = core('configmaps')
const map = core('configmaps', 'a')
const leases = named('coordination.k8s.io/v1', 'leases')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `odd ${name}`, steps })
const withPods = (name: string, ...steps: Case['steps']): Case => ({ ...one(name, ...steps), hasPods: true })
const made = create(maps, configMap('a'))
const two = [create(leases, lease('a')), create(leases, lease('b'), { save: { rv: 'metadata.resourceVersion' } })]
const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

const READS: readonly Case[] = [
  one(
    'head',
    made,
    ...[map, core('configmaps', 'none'), maps, '/api', '/version'].map((path) => ({
      method: 'HEAD',
      path,
      status: 405,
    })),
    { method: 'HEAD', path: '/healthz' },
  ),
  one(
    'get of the future',
    get(`${map}?resourceVersion=99999999`, { status: 504, ignore: ['metadata', 'details.retryAfterSeconds'] }),
  ),
  one(
    'list of the future',
    get(`${maps}?resourceVersion=99999999`, { status: 504, ignore: ['details.retryAfterSeconds'] }),
  ),
  one('list of any version in pages', ...two, get(`${leases}?limit=1&resourceVersion=0`)),
  one(
    'list that goes on at a version',
    ...two,
    get(`${leases}?limit=1&resourceVersion={rv}`, { save: { next: 'metadata.continue' } }),
    get(`${leases}?limit=1&continue={next}`),
    get(`${leases}?limit=1&continue={next}&resourceVersion={rv}`, { status: 400 }),
    get(`${leases}?limit=1&continue={next}&resourceVersion=0`),
  ),
  one(
    'list in pages of an older state',
    ...two,
    create(leases, lease('c')),
    get(`${leases}?limit=1&resourceVersion={rv}&resourceVersionMatch=Exact`, { save: { next: 'metadata.continue' } }),
    get(`${leases}?limit=5&continue={next}`),
  ),
  one(
    'list that goes on with another selector',
    ...two,
    get(`${leases}?limit=1`, { save: { next: 'metadata.continue' } }),
    get(`${leases}?continue={next}&fieldSelector=metadata.name%3Da`),
  ),
  one('watch of the future', watch('w', `${leases}?resourceVersion=99999999&timeoutSeconds=5`), read('w', 'all')),
  one(
    'watch with initial events and no bookmarks',
    create(leases, lease('a')),
    watch('w', `${leases}?${initial}&timeoutSeconds=1`),
    read('w', 'all'),
  ),
  one(
    'watch with initial events from a version',
    create(leases, lease('a'), { save: { rv: 'metadata.resourceVersion' } }),
    watch('w', `${leases}?${initial}&allowWatchBookmarks=true&resourceVersion={rv}`),
    read('w', 2),
  ),
  one(
    'watch with initial events as a table',
    create(leases, lease('a')),
    watch('w', `${leases}?${initial}&allowWatchBookmarks=true`, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    }),
    read('w', 2),
  ),
  one(
    'watch with a limit',
    create(leases, lease('a')),
    watch('w', `${leases}?limit=1&timeoutSeconds=1`),
    read('w', 'all'),
  ),
  one(
    'watch with odd parameters',
    watch('w', `${leases}?timeoutSeconds=x`, { status: 400 }),
    watch('w', `${leases}?sendInitialEvents=maybe`, { status: 422 }),
    watch('w', `${leases}?allowWatchBookmarks=perhaps&timeoutSeconds=1`),
  ),
]

const who = (headers: Readonly<Record<string, string>>, status = 201): ReturnType<typeof create> =>
  create(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    { headers, status },
  )

const ROBOT = 'system:serviceaccount:{ns}:robot'

const PEOPLE: readonly Case[] = [
  one('to be a service account', who({ 'impersonate-user': ROBOT })),
  one('to be a service account in a group', who({ 'impersonate-user': ROBOT, 'impersonate-group': 'g1' })),
  one('to be nearly a service account', who({ 'impersonate-user': 'system:serviceaccount:{ns}' })),
  one('to be nobody', who({ 'impersonate-user': 'system:anonymous' }, 403)),
  one('to be unknown', who({ 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' }, 403)),
  one('to be known', who({ 'impersonate-user': 'bob', 'impersonate-group': 'system:authenticated' })),
  one('to be a master', who({ 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' })),
  one(
    'to be a user with all attributes',
    who({
      'impersonate-user': 'bob',
      'impersonate-uid': 'u1',
      'impersonate-group': 'g1',
      'impersonate-extra-scopes': 'view',
      'impersonate-extra-acme.com%2fproject': 'x',
    }),
  ),
  one('to be in a group and nobody', who({ 'impersonate-group': 'g1' }, 400)),
  one(
    'to have a uid and no name',
    who({ 'impersonate-uid': 'g1', 'impersonate-extra-b': 'x', 'impersonate-extra-a': 'y' }, 400),
  ),
]

const applied = (query: string, body: Json, status = 201): ReturnType<typeof patch> =>
  patch(APPLY_PATCH, `${map}?${query}`, body, { status })
const conf = (metadata: Json): Json => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
const deployed = named('apps/v1', 'deployments', 'a')
const scale = (replicas: number): Readonly<Record<string, Json>> => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a' },
  spec: { replicas },
})

const APPLIES: readonly Case[] = [
  one('apply of a generated name', applied('fieldManager=one', conf({ generateName: 'x' }), 400)),
  one('apply of no name', applied('fieldManager=one', { apiVersion: 'v1', kind: 'ConfigMap' }, 400)),
  one('apply that is perhaps forced', applied('fieldManager=one&force=maybe', conf({ name: 'a' }))),
  one('apply of a manager with a bell', applied('fieldManager=a%07b', conf({ name: 'a' }), 422)),
  one('apply of a manager with a long name', applied(`fieldManager=${'x'.repeat(129)}`, conf({ name: 'a' }), 422)),
  one(
    'apply of no managed fields',
    apply(map, 'one', configMap('a', { a: '1' }, { managedFields: null, creationTimestamp: null }), { status: 201 }),
    apply(map, 'one', configMap('a', { a: '1' }, { managedFields: [] }), { status: 400 }),
  ),
  one('apply in another namespace', apply(map, 'one', configMap('a', {}, { namespace: 'other' }), { status: 400 })),
  one(
    'apply of a secret in plain text',
    apply(core('secrets', 'a'), 'one', secret('a'), { status: 201 }),
    apply(core('secrets', 'a'), 'one', secret('a')),
    get(core('secrets', 'a')),
  ),
  one(
    'apply of a scale',
    apply(deployed, 'one', deployment('a', { replicas: 0 }), { status: 201, ignore: BY_CONTROLLERS }),
    apply(`${deployed}/scale`, 'two', scale(1), { status: 409 }),
    apply(`${deployed}/scale`, 'two', scale(0), { status: 409 }),
    apply(`${deployed}/scale`, 'two', scale(0), { force: true, ignore: BY_CONTROLLERS }),
  ),
]

const tests = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' }))
const template = core('podtemplates', 'a')

const PATCHES: readonly Case[] = [
  one(
    'update of managed fields',
    made,
    update(map, configMap('a', { a: '2' }, { managedFields: [{}] })),
    update(map, configMap('a', { a: '3' }, { managedFields: [] })),
    update(map, configMap('a', { a: '3' }, { managedFields: [{ manager: 'x', operation: 'Odd' }] })),
    get(map),
  ),
  one(
    'JSON patch of pointers',
    create(maps, configMap('a', { 'x.y': '1' }, { annotations: { 'a/b': '1' } })),
    patch(JSON_PATCH, map, [
      { op: 'replace', path: '/metadata/annotations/a~1b', value: '3' },
      { op: 'move', from: '/data/x.y', path: '/data/z' },
      { op: 'copy', from: '/data/z', path: '/data/w' },
    ]),
    patch(JSON_PATCH, map, [{ op: 'replace', path: '/data/none/more', value: '3' }], { status: 422 }),
    patch(JSON_PATCH, map, [{ op: 'odd', path: '/data' }], { status: 422 }),
    patch(JSON_PATCH, map, [{ path: '/data' }], { status: 422 }),
    patch(JSON_PATCH, map, {}, { status: 400 }),
    patch(JSON_PATCH, map, []),
  ),
  one('JSON patch of too much', made, patch(JSON_PATCH, map, tests, { status: 413 })),
  one(
    'merge patch of everything but an object',
    made,
    ...['null', '[]', '5', '""'].map((body) => patch(MERGE_PATCH, map, body, { status: 400 })),
    patch(MERGE_PATCH, map, { metadata: null }, { status: 400 }),
    patch(MERGE_PATCH, map, { metadata: { namespace: 'x' } }, { status: 400 }),
    patch(MERGE_PATCH, map, { data: null }),
  ),
  one(
    'strategic patch of everything but an object',
    made,
    patch(STRATEGIC_PATCH, map, 'null'),
    patch(STRATEGIC_PATCH, map, '[]', { status: 400 }),
    patch(STRATEGIC_PATCH, map, { metadata: null }, { status: 400 }),
    patch(STRATEGIC_PATCH, map, { $patch: 'delete' }, { status: 400 }),
    patch(STRATEGIC_PATCH, map, { data: { $patch: 'odd' } }, { status: 500 }),
    patch(STRATEGIC_PATCH, map, { data: { $patch: 'replace', q: '1' } }),
  ),
  one(
    'strategic patch of an order',
    create(core('podtemplates'), podTemplate('a', { containers: [container('a'), container('b')] })),
    patch(STRATEGIC_PATCH, template, {
      template: {
        spec: {
          '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
          containers: [{ name: 'c', image: 'c' }],
        },
      },
    }),
    patch(STRATEGIC_PATCH, template, { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } }),
  ),
]

const bind = (body: Json, status = 201): ReturnType<typeof create> =>
  create(`${core('pods', 'a')}/binding`, body, { status })
const other = '/api/v1/namespaces/{ns}-two'
const namespace = (...finalizers: readonly string[]): Json => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: '{ns}-two' },
  spec: { finalizers: [...finalizers] },
})

const PLACES: readonly Case[] = [
  withPods(
    'binding of a pod',
    create(core('pods'), pod('a')),
    bind({ metadata: { name: 'a' }, target: { name: 5 } }, 400),
    bind({ metadata: { name: 'a' }, target: {} }, 500),
    bind({ metadata: { name: 'a' }, target: { kind: 'Pod' } }, 500),
    bind({ metadata: { name: 'b' }, target: { name: 'x' } }, 400),
    bind({ metadata: { name: 'a', uid: 'x' }, target: { kind: 'Node', name: 'x' } }, 409),
    bind({ metadata: { name: 'a', annotations: { x: 'y' } }, target: { kind: 'Node', name: 'nowhere' } }),
    get(core('pods', 'a'), { ignore: ['metadata.resourceVersion'] }),
    bind({ metadata: { name: 'a' }, target: { kind: 'Node', name: 'other' } }, 409),
  ),
  withPods(
    'binding the old way',
    create(core('pods'), pod('a')),
    create(core('bindings'), { metadata: { name: 'a' }, target: { kind: 'Node', name: 'nowhere' } }),
    get(core('pods', 'a'), { pick: ['spec.nodeName'] }),
    create(core('bindings'), { metadata: { name: 'none' }, target: { name: 'nowhere' } }, { status: 404 }),
  ),
  one(
    'namespace that waits for a finalizer',
    create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{ns}-two' } }),
    patch(MERGE_PATCH, other, { spec: { finalizers: [] } }),
    patch(MERGE_PATCH, `${other}/status`, { status: { phase: 'Terminating' } }, { status: 422 }),
    update(`${other}/finalize`, namespace('bad'), { status: 422 }),
    update(`${other}/finalize`, namespace('kubernetes', 'tenure.test/x')),
    remove(other, undefined, { ignore: BY_CONTROLLERS }),
    patch(MERGE_PATCH, `${other}/status`, { status: { phase: 'Active' } }, { status: 422 }),
    update(`${other}/finalize`, namespace('kubernetes'), { pick: ['kind'] }),
    get(other, { eventually: true, status: 404 }),
  ),
  one(
    'namespaces that may not be',
    create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } }, { status: 422 }),
    remove('/api/v1/namespaces', undefined, { status: 405 }),
    remove('/api/v1/namespaces/kube-system', undefined, { status: 403 }),
  ),
]

export const oddCases: CaseGroup = {
  name: 'odd requests',
  cases: [...READS, ...PEOPLE, ...APPLIES, ...PATCHES, ...PLACES],
}
