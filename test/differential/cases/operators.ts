/** Typical requests of an operator: reviews, events, preconditions, and its kinds. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { configMap, deployment, pod, widget } from '../objects.ts'
import {
  BY_CONTROLLERS,
  core,
  create,
  custom,
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

const one = (name: string, ...steps: Case['steps']): Case => ({ name: `operator ${name}`, steps })

const maps = core('configmaps')
const map = core('configmaps', 'a')
const widgets = custom('widgets')
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const ANOTHER_UID = '11111111-2222-4333-8444-555555555555'

const AUTHENTICATION = '/apis/authentication.k8s.io/v1'
const AUTHORIZATION = '/apis/authorization.k8s.io/v1'

const review = (kind: string, spec: JsonObject): JsonObject => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec })

const REVIEWS: readonly Case[] = [
  one(
    'asks who it is',
    create(
      `${AUTHENTICATION}/selfsubjectreviews`,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      { ignore: ['status.userInfo.extra', 'status.userInfo.uid', 'status.userInfo.username'] },
    ),
    get(`${AUTHENTICATION}/selfsubjectreviews`, { status: 405 }),
  ),
  one(
    'asks what it may do',
    create(
      `${AUTHORIZATION}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', {
        resourceAttributes: { group: 'apps', verb: 'patch', resource: 'deployments', subresource: 'scale', name: 'a' },
      }),
      { ignore: ['status.reason'] },
    ),
    create(
      `${AUTHORIZATION}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', { nonResourceAttributes: { path: '/metrics', verb: 'get' } }),
      { ignore: ['status.reason'] },
    ),
    create(
      `${AUTHORIZATION}/selfsubjectaccessreviews`,
      review('SelfSubjectAccessReview', {
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
        resourceAttributes: { verb: 'get', resource: 'pods' },
      }),
      { status: 422 },
    ),
    create(`${AUTHORIZATION}/namespaces/{ns}/localsubjectaccessreviews`, {
      ...review('LocalSubjectAccessReview', {
        user: 'somebody',
        resourceAttributes: { verb: 'get', resource: 'pods', namespace: '{ns}' },
      }),
      metadata: { namespace: '{ns}' },
    }),
  ),
]

const event = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name },
  eventTime: '2026-01-02T03:04:05.000000Z',
  reportingController: 'tenure.test/operator',
  reportingInstance: 'operator-1',
  action: 'Test',
  reason: 'Tested',
  type: 'Normal',
  note: 'a note',
  regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: '{ns}' },
  ...more,
})
const events = named('events.k8s.io/v1', 'events')

const EVENTS: readonly Case[] = [
  one(
    'makes an event into a series',
    create(events, event('a')),
    patch(STRATEGIC_PATCH, `${events}/a`, { series: { count: 2, lastObservedTime: '2026-01-02T03:05:05.000000Z' } }),
    patch(MERGE_PATCH, `${events}/a`, { series: { count: 3, lastObservedTime: '2026-01-02T03:06:05.000000Z' } }),
    get(`${events}/a`),
    get(`${core('events')}/a`),
  ),
  one(
    'writes events that are wrong',
    create(events, event('a', { action: '' }), { status: 422 }),
    create(events, event('b', { type: 'Odd' }), { status: 422 }),
    create(events, event('c', { series: { count: 1, lastObservedTime: '2026-01-02T03:05:05.000000Z' } }), {
      status: 422,
    }),
    create(events, event('d'), {}),
    patch(MERGE_PATCH, `${events}/d`, { note: 'another' }, { status: 422 }),
  ),
]

const PRECONDITIONS: readonly Case[] = [
  one(
    'patches what it has seen',
    create(maps, configMap('a'), { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
    patch(MERGE_PATCH, map, { metadata: { resourceVersion: '{rv}', labels: { a: 'b' } } }),
    patch(MERGE_PATCH, map, { metadata: { resourceVersion: '{rv}', labels: { a: 'c' } } }, { status: 409 }),
    patch(MERGE_PATCH, map, { metadata: { resourceVersion: '', labels: { a: 'd' } } }),
    patch(MERGE_PATCH, map, { metadata: { uid: '{uid}', labels: { a: 'e' } } }),
    patch(MERGE_PATCH, map, { metadata: { uid: ANOTHER_UID } }, { status: 422 }),
    patch(
      JSON_PATCH,
      map,
      [
        { op: 'test', path: '/metadata/uid', value: ANOTHER_UID },
        { op: 'add', path: '/metadata/labels/x', value: 'y' },
      ],
      { status: 422 },
    ),
    patch(JSON_PATCH, map, [
      { op: 'test', path: '/metadata/uid', value: '{uid}' },
      { op: 'add', path: '/metadata/labels/x', value: 'y' },
    ]),
  ),
  one(
    'patches the custom resource it has seen',
    create(widgets, widget('a'), { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { resourceVersion: '{rv}', finalizers: ['tenure.test/a'] } }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { resourceVersion: '{rv}', finalizers: [] } }, { status: 409 }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { uid: ANOTHER_UID } }, { status: 422 }),
    patch(
      MERGE_PATCH,
      `${widgets}/a/status`,
      { metadata: { resourceVersion: '{rv}' }, status: { phase: 'Ready' } },
      {
        status: 409,
      },
    ),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { finalizers: null } }),
  ),
  one(
    'deletes what it has seen, and nothing else',
    create(maps, configMap('a'), { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
    remove(map, { preconditions: { uid: ANOTHER_UID } }, { status: 409 }),
    remove(map, { preconditions: { resourceVersion: '1' } }, { status: 409 }),
    remove(map, { preconditions: { uid: ANOTHER_UID, resourceVersion: '{rv}' } }, { status: 409 }),
    remove(map, { preconditions: { uid: '{uid}', resourceVersion: '{rv}' } }),
    remove(map, { preconditions: { uid: '{uid}', resourceVersion: '{rv}' } }, { status: 404 }),
  ),
  one(
    'deletes the custom resource it has seen',
    create(widgets, widget('a'), { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
    remove(`${widgets}/a`, { preconditions: { uid: ANOTHER_UID, resourceVersion: '{rv}' } }, { status: 409 }),
    remove(`${widgets}/a`, { preconditions: { uid: '{uid}', resourceVersion: '1' } }, { status: 409 }),
    remove(`${widgets}/a`, { preconditions: { uid: '{uid}', resourceVersion: '{rv}' } }),
  ),
  one(
    'writes a status on top of one that it has not seen',
    create(widgets, widget('a'), { save: { rv: 'metadata.resourceVersion' } }),
    patch(MERGE_PATCH, `${widgets}/a/status`, { status: { phase: 'Ready' } }),
    update(
      `${widgets}/a/status`,
      { ...widget('a'), metadata: { name: 'a', resourceVersion: '{rv}' }, status: { phase: 'Failed' } },
      { status: 409 },
    ),
    update(`${widgets}/a/status`, { ...widget('a'), status: { phase: 'Failed' } }, { status: 422 }),
  ),
]

const WATCHES: readonly Case[] = [
  one(
    'watches the metadata of custom resources',
    get(widgets, { save: { rv: 'metadata.resourceVersion' } }),
    watch('w', `${widgets}?resourceVersion={rv}`, { headers: { accept: METADATA } }),
    create(widgets, widget('a')),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { labels: { a: 'b' } } }),
    patch(MERGE_PATCH, `${widgets}/a/status`, { status: { phase: 'Ready' } }),
    remove(`${widgets}/a`),
    read('w', 4),
  ),
  one(
    'watches the metadata of custom resources from the beginning',
    create(widgets, widget('a')),
    watch('w', `${widgets}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, {
      headers: { accept: METADATA },
    }),
    read('w', 2),
  ),
  one(
    'watches custom resources from the beginning',
    create(widgets, widget('a')),
    watch('w', `${widgets}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`),
    read('w', 2),
  ),
  one(
    'watches pods from the beginning',
    watch('w', `${core('pods')}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`),
    read('w', 1),
  ),
]

const deployments = named('apps/v1', 'deployments')
const seen = { ignore: ['metadata.resourceVersion', 'status.replicas'] }

const KINDS: readonly Case[] = [
  one(
    'scales a deployment',
    create(deployments, deployment('a', { replicas: 0 }), { ignore: BY_CONTROLLERS }),
    patch(MERGE_PATCH, `${deployments}/a/scale`, { spec: { replicas: 2 } }, seen),
    patch(MERGE_PATCH, `${deployments}/a/scale?fieldManager=scaler`, { spec: { replicas: 0 } }, seen),
    patch(MERGE_PATCH, `${deployments}/a/scale?dryRun=All`, { spec: { replicas: 7 } }, seen),
    patch(
      MERGE_PATCH,
      `${deployments}/a/scale`,
      { metadata: { resourceVersion: '1' }, spec: { replicas: 1 } },
      { status: 409 },
    ),
    get(`${deployments}/a`, { pick: ['spec.replicas', 'metadata.generation'] }),
  ),
  one(
    'counts annotations in the generation of a deployment',
    create(deployments, deployment('a', { replicas: 0 }), { ignore: BY_CONTROLLERS }),
    patch(
      MERGE_PATCH,
      `${deployments}/a`,
      { metadata: { annotations: { a: '1' } } },
      { pick: ['metadata.generation'] },
    ),
    patch(MERGE_PATCH, `${deployments}/a`, { metadata: { labels: { a: '1' } } }, { pick: ['metadata.generation'] }),
    patch(
      MERGE_PATCH,
      `${deployments}/a/status`,
      { metadata: { annotations: { a: '2' } } },
      { pick: ['metadata.generation'] },
    ),
  ),
  one(
    'makes an autoscaler',
    create(
      named('autoscaling/v2', 'horizontalpodautoscalers'),
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'a' },
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' } },
      },
      { ignore: BY_CONTROLLERS },
    ),
    get(named('autoscaling/v2', 'horizontalpodautoscalers', 'a'), { ignore: BY_CONTROLLERS }),
    get(named('autoscaling/v1', 'horizontalpodautoscalers', 'a'), { ignore: BY_CONTROLLERS }),
  ),
  one(
    'makes an ingress',
    create(named('networking.k8s.io/v1', 'ingresses'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'a' },
      spec: {
        rules: [
          {
            host: 'a.example.test',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
            },
          },
        ],
        tls: [{ hosts: ['a.example.test'], secretName: 'certificate' }],
      },
    }),
    patch(
      MERGE_PATCH,
      named('networking.k8s.io/v1', 'ingresses', 'a/status'),
      {
        status: { loadBalancer: { ingress: [{ ip: '10.1.2.3' }] } },
      },
      { ignore: ['status.loadBalancer.ingress.*.ip'] },
    ),
    get(named('networking.k8s.io/v1', 'ingresses', 'a'), { ignore: ['status.loadBalancer.ingress.*.ip'] }),
  ),
  one(
    'makes a claim for a volume',
    create(core('persistentvolumeclaims'), {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'a' },
      spec: {
        storageClassName: 'nobody',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1024Mi' } },
      },
    }),
    get(core('persistentvolumeclaims', 'a')),
    patch(
      MERGE_PATCH,
      core('persistentvolumeclaims', 'a'),
      { spec: { resources: { requests: { storage: '512Mi' } } } },
      { status: 422 },
    ),
  ),
  one(
    'makes pods with generated names',
    create(core('pods'), { ...pod('a'), metadata: { generateName: 'made-' } }),
    create(core('pods'), { ...pod('a'), metadata: { generateName: 'made-' } }),
    create(
      core('pods'),
      { ...pod('a'), metadata: { generateName: 'Bad_' } },
      { status: 422, ignore: ['message', 'details.name', 'details.causes.1.message'] },
    ),
    // Rejected before a name is generated.
    create(
      core('pods'),
      { ...pod('a', { serviceAccountName: 'nobody' }), metadata: { generateName: 'made-' } },
      { status: 403 },
    ),
    create(
      core('pods'),
      { ...pod('a', { priorityClassName: 'none' }), metadata: { generateName: 'made-' } },
      { status: 403 },
    ),
    create(
      core('pods'),
      { ...pod('a', { runtimeClassName: 'none' }), metadata: { generateName: 'made-' } },
      { status: 403 },
    ),
  ),
]

const text = (body: string, status: number) => create(widgets, body, { status })

const BODIES: readonly Case[] = [
  one(
    'names no kind',
    text('{"metadata":{"name":"a"},"spec":{"size":3}}', 400),
    text('{"apiVersion":"{group}/v1","metadata":{"name":"a"},"spec":{"size":3}}', 400),
    text('{"apiVersion":"{group}/v1","kind":"","metadata":{"name":"a"}}', 400),
    text('{"kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}', 400),
    text('{"apiVersion":"","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}', 400),
    text('{"apiVersion":"{group}/v1","kind":7,"metadata":{"name":"a"}}', 400),
    text('{"apiVersion":"a/b/c","kind":"Widget","metadata":{"name":"a"}}', 400),
    text('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}', 400),
    create(widgets, 'metadata:\n  name: a\n', { status: 400, headers: { 'content-type': 'application/yaml' } }),
    get(widgets, { pick: ['items'] }),
  ),
  one(
    'names no kind in an update',
    create(widgets, widget('a'), { save: { rv: 'metadata.resourceVersion' } }),
    update(`${widgets}/a`, '{"metadata":{"name":"a"},"spec":{"size":3}}', { status: 400 }),
    update(`${widgets}/a`, { ...widget('a'), kind: 'Gadget' }, { status: 422 }),
    update(`${widgets}/a`, { ...widget('a'), apiVersion: '{group}/v2' }, { status: 400 }),
    patch(MERGE_PATCH, `${widgets}/a`, { kind: 'Gadget' }, { status: 422 }),
    patch(MERGE_PATCH, `${widgets}/a`, { kind: null }, { status: 422 }),
    patch(MERGE_PATCH, `${widgets}/a`, { apiVersion: '{group}/v2' }, { status: 422 }),
    update(`${widgets}/a/status`, '{"metadata":{"name":"a"},"status":{"phase":"Ready"}}', { status: 400 }),
    get(`${widgets}/a`),
  ),
  one(
    'has finalizers without a domain',
    create(widgets, { ...widget('a'), metadata: { name: 'a', finalizers: ['simple', 'with.dot'] } }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { finalizers: ['simple', 'other'] } }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { finalizers: ['bad one'] } }, { status: 422 }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { labels: { 'a b': 'c' } } }, { status: 422 }),
    patch(MERGE_PATCH, `${widgets}/a`, { metadata: { finalizers: [] } }),
  ),
  one(
    'is warned though it is refused',
    create(widgets, widget('a', { size: 3, unknown: 1, mode: 'odd' }), { status: 422 }),
    create(maps, { ...configMap('a', {}, { labels: { 'a b': 'c' } }), unknown: 1 }, { status: 422 }),
  ),
]

const webhook = (...matchConditions: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: '{ns}-conditions' },
  webhooks: [
    {
      name: 'a.tenure.test',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: 'https://a.tenure.test/' },
      matchConditions: [...matchConditions],
    },
  ],
})
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All'
const conditioned = (status: number, ...conditions: readonly JsonObject[]) =>
  create(WEBHOOKS, webhook(...conditions), { status })

const CONDITIONS: readonly Case[] = [
  one(
    'sets conditions for a webhook',
    conditioned(201, { name: 'a', expression: 'request.name != "b"' }, { name: 'tenure.test/b', expression: 'true' }),
    conditioned(201, { name: 'a', expression: 'object.metadata.labels["a"] == "b" || oldObject == null' }),
    conditioned(201, { name: 'a', expression: 'request.userInfo.groups.exists(g, g == "x")' }),
    conditioned(201, { name: 'a', expression: 'authorizer.group("").resource("pods").check("get").allowed()' }),
  ),
  one(
    'sets conditions that are none',
    conditioned(422, { name: 'a', expression: 'nothing == 1' }),
    conditioned(422, { name: 'a', expression: '1 + 1' }),
    create(WEBHOOKS, webhook({ name: 'a', expression: 'request.name ==' }), {
      status: 422,
      ignore: ['message', 'details.causes.0.message'],
    }),
    conditioned(422, { name: 'a', expression: '' }),
    conditioned(422, { name: '', expression: 'true' }),
    conditioned(422, { name: 'a b', expression: 'true' }),
    conditioned(422, { name: 'a', expression: 'true' }, { name: 'a', expression: 'true' }),
    conditioned(422, { name: 'a', expression: 'request.nothing == "a"' }),
  ),
]

export const operatorCases: CaseGroup = {
  name: 'operators',
  cases: [...REVIEWS, ...EVENTS, ...PRECONDITIONS, ...WATCHES, ...KINDS, ...BODIES, ...CONDITIONS],
}
