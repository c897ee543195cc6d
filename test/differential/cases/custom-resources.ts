import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { definition, version } from '../custom-resource.ts'
import { widget } from '../objects.ts'
import { apply, CRDS, create, custom, get, MERGE_PATCH, named, patch, remove, update } from '../steps.ts'

const widgets = custom('widgets')
const at = custom('widgets', 'a')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `custom resource ${name}`, steps })

/** Specs, checked against the schema. */
const SPECS: readonly (readonly [string, JsonObject, number?])[] = [
  ['with defaults', { size: 3 }],
  [
    'with everything',
    {
      size: 3,
      replicas: 2,
      mode: 'slow',
      code: 'abc',
      ratio: 1.5,
      enabled: true,
      when: '2020-01-01T00:00:00Z',
      amount: '5%',
      maybe: null,
      tags: ['a', 'b'],
      plain: [1, 1],
      counts: { a: 1 },
      ports: [{ port: 1 }],
      nested: { inner: {} },
      oneOf: { left: 'x' },
    },
  ],
  [
    'prunes what it does not know',
    { size: 3, wrong: 1, nested: { depth: 1, odd: 2, inner: { more: 3 } }, ports: [{ port: 1, x: 2 }] },
  ],
  [
    'keeps what it is told to',
    {
      size: 3,
      free: { any: { thing: [1, 'two', null] } },
      template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels: { a: 'b' } }, data: { a: 1 } },
    },
  ],
  ['without what is required', {}, 422],
  ['with null for a default', { size: 3, mode: null, replicas: null }],
  ['with null for what is required', { size: null }, 422],
  ['below the minimum', { size: 0 }, 422],
  ['above the maximum', { size: 101 }, 422],
  ['with a text for a number', { size: 'three' }, 422],
  ['with a fraction for an integer', { size: 1.5 }, 422],
  ['with a number for a text', { size: 3, code: 5 }, 422],
  ['outside of an enumeration', { size: 3, mode: 'odd' }, 422],
  ['against a pattern', { size: 3, code: 'ABC' }, 422],
  ['too long and too short', { size: 3, code: 'abcdefghijk', tags: ['abcdefghijklm'] }, 422],
  ['too short', { size: 3, code: 'a' }, 422],
  ['that is not a multiple', { size: 3, ratio: 0.7 }, 422],
  ['at an exclusive minimum', { size: 3, ratio: 0 }, 422],
  ['with a bad time', { size: 3, when: 'yesterday' }, 422],
  ['with a bad int-or-string', { size: 3, amount: true }, 422],
  ['with a set that is none', { size: 3, tags: ['a', 'a'] }, 422],
  ['with too many items', { size: 3, tags: ['a', 'b', 'c', 'd', 'e'] }, 422],
  ['with the same keys twice', { size: 3, ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] }, 422],
  ['with too many properties', { size: 3, counts: { a: 1, b: 2, c: 3, d: 4 } }, 422],
  ['with a bad additional property', { size: 3, counts: { a: 'x' } }, 422],
  ['with both of one', { size: 3, oneOf: { left: 'a', right: 'b' } }, 422],
  ['with none of one', { size: 3, oneOf: {} }, 422],
  ['with a list for an object', { size: 3, nested: [] }, 422],
  ['with an object for a list', { size: 3, tags: {} }, 422],
  ['with an embedded resource that is none', { size: 3, template: { metadata: { name: 'x' } } }, 422],
  ['with many mistakes', { size: 0, mode: 'odd', code: 'A', ports: [{ note: 'x' }] }, 422],
  ['against a rule', { size: 3, code: 'forbidden' }, 422],
  ['against a rule with an expression for its message', { size: 3, replicas: 4 }, 422],
  ['against a rule over a list', { size: 3, ports: [{ port: 2000 }] }, 422],
]

const VALIDATION: readonly Case[] = SPECS.map(([title, spec, status = 201]) =>
  one(title, create(widgets, widget('a', spec), { status, unordered: true })),
)

const STRICT: readonly Case[] = ['Ignore', 'Warn', 'Strict'].map((level) =>
  one(
    `with unknown fields and fieldValidation=${level}`,
    create(
      `${widgets}?fieldValidation=${level}`,
      { ...widget('a', { size: 3, wrong: 1, nested: { odd: 1 } }), extra: 1, metadata: { name: 'a', strange: 1 } },
      level === 'Strict' ? { status: 400 } : {},
    ),
  ),
)

const OBJECTS: readonly Case[] = [
  one(
    'keeps an immutable field',
    create(widgets, widget('a', { size: 3, immutable: 'x' })),
    patch(MERGE_PATCH, at, { spec: { immutable: 'y' } }, { status: 422 }),
    patch(MERGE_PATCH, at, { spec: { size: 4 } }),
  ),
  one(
    'may keep what was always wrong',
    create(widgets, widget('a')),
    patch(MERGE_PATCH, at, { spec: { mode: 'odd' } }, { status: 422 }),
  ),
  one(
    'counts generations',
    create(widgets, widget('a')),
    patch(MERGE_PATCH, at, { spec: { size: 4 } }),
    patch(MERGE_PATCH, at, { metadata: { labels: { a: 'b' } } }),
    patch(MERGE_PATCH, `${at}/status`, { status: { phase: 'Ready' } }),
  ),
  one(
    'needs a version to be updated',
    create(widgets, widget('a'), { save: { rv: 'metadata.resourceVersion' } }),
    update(at, widget('a', { size: 4 }), { status: 422 }),
    update(at, { ...widget('a', { size: 4 }), metadata: { name: 'a', resourceVersion: '{rv}' } }),
  ),
  one(
    'has a status of its own',
    create(widgets, widget('a', { size: 3 }, { status: { phase: 'Ready' } })),
    patch(MERGE_PATCH, `${at}/status`, {
      spec: { size: 9 },
      metadata: { labels: { a: 'b' } },
      status: { phase: 'Failed' },
    }),
    patch(MERGE_PATCH, at, { status: { phase: 'Ready' } }),
    patch(MERGE_PATCH, `${at}/status`, { status: { phase: 'Odd' } }, { status: 422 }),
    get(`${at}/status`),
  ),
  one(
    'has a scale',
    create(widgets, widget('a', { size: 9 })),
    get(`${at}/scale`),
    patch(MERGE_PATCH, `${at}/scale`, { spec: { replicas: 5 } }),
    patch(MERGE_PATCH, `${at}/status`, { status: { replicas: 4, selector: 'app=a' } }),
    get(`${at}/scale`),
    patch(MERGE_PATCH, `${at}/scale`, { spec: { replicas: -1 } }, { status: 422 }),
    update(`${at}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: '{ns}' },
      spec: { replicas: 2 },
    }),
    patch(MERGE_PATCH, `${at}/scale`, { spec: { replicas: 50 } }, { status: 422 }),
  ),
  one(
    'is served in both versions',
    create(widgets, widget('a')),
    get('/apis/{group}/v1beta1/namespaces/{ns}/widgets/a'),
    get('/apis/{group}/v1beta1/namespaces/{ns}/widgets'),
    patch(MERGE_PATCH, '/apis/{group}/v1beta1/namespaces/{ns}/widgets/a', { spec: { size: 5 } }),
  ),
  one(
    'of the wrong kind',
    create(widgets, { ...widget('a'), kind: 'Gadget' }, { status: 422 }),
    create(widgets, { ...widget('a'), apiVersion: '{group}/v2' }, { status: 400 }),
    create(widgets, { metadata: { name: 'a' }, spec: { size: 3 } }, { status: 400 }),
  ),
  one(
    'without metadata',
    create(widgets, { apiVersion: '{group}/v1', kind: 'Widget', spec: { size: 3 } }, { status: 422 }),
  ),
  one(
    'with bad metadata',
    create(widgets, { ...widget('a'), metadata: { name: 'a', labels: { a: 5 } } }, { status: 400 }),
    create(widgets, { ...widget('a'), metadata: { name: 'A_' } }, { status: 422 }),
  ),
  one(
    'without a status subresource',
    create(custom('notes'), {
      apiVersion: '{group}/v1',
      kind: 'Note',
      metadata: { name: 'a' },
      text: 'hello',
      status: 'mine',
    }),
    patch(MERGE_PATCH, custom('notes', 'a'), { status: 'changed', text: null }),
    get(`${custom('notes', 'a')}/status`, { status: 404 }),
    get(`${custom('notes', 'a')}/scale`, { status: 404 }),
  ),
  one(
    'can be selected by its fields',
    create(widgets, widget('a', { size: 1, mode: 'slow' })),
    create(widgets, widget('b')),
    get(`${widgets}?fieldSelector=spec.mode%3Dslow`),
    get(`${widgets}?fieldSelector=spec.size%3D1`, { status: 400 }),
  ),
  one('deleted', create(widgets, widget('a')), remove(at), get(at, { status: 404 })),
  one(
    'deleted as a collection',
    create(widgets, widget('a')),
    create(widgets, widget('b')),
    remove(widgets),
    get(widgets),
  ),
]

const own = '{run}.{ns}.test'
const gadget = (schema: JsonObject, more: JsonObject = {}): JsonObject =>
  definition({ plural: 'gadgets', kind: 'Gadget', group: own, versions: [version('v1', schema, more)] })
const refused = (name: string, schema: JsonObject, more: JsonObject = {}): Case => ({
  name: `definition refuses ${name}`,
  steps: [create(CRDS, gadget(schema, more), { status: 422 })],
})
const withSpec = (spec: JsonObject): JsonObject => ({ type: 'object', properties: { spec } })

const relics = (name?: string): string => named(`${own}/v1`, 'relics', name)
const relic = (name: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: `${own}/v1`,
  kind: 'Relic',
  metadata: { name, ...metadata },
  spec: { size: 1 },
})

const DEFINITIONS: readonly Case[] = [
  {
    name: 'definition lives and dies',
    steps: [
      create(CRDS, gadget(withSpec({ type: 'object', properties: { a: { type: 'string' } } })), { ignore: ['status'] }),
      get(`/apis/${own}/v1/namespaces/{ns}/gadgets`, { eventually: true }),
      get(`${CRDS}/gadgets.${own}`, { ignore: ['metadata.resourceVersion', 'metadata.managedFields'] }),
      get(`/apis/${own}/v1`),
      create(`/apis/${own}/v1/namespaces/{ns}/gadgets`, {
        apiVersion: `${own}/v1`,
        kind: 'Gadget',
        metadata: { name: 'a' },
        spec: { a: 'b' },
      }),
      remove(`${CRDS}/gadgets.${own}`, undefined, {
        ignore: ['metadata.resourceVersion', 'metadata.managedFields', 'status.conditions'],
      }),
      get(`${CRDS}/gadgets.${own}`, { eventually: true, status: 404 }),
      get(`/apis/${own}/v1/namespaces/{ns}/gadgets`, { eventually: true, status: 404, ignore: ['message'] }),
    ],
  },
  {
    name: 'definition defaults',
    steps: [create(`${CRDS}?dryRun=All`, gadget(withSpec({ type: 'object' })), { ignore: ['status'] })],
  },
  refused('a schema without a type', { properties: {} }),
  refused('a property without a type', withSpec({ properties: { a: {} } })),
  refused(
    'a default that does not fit',
    withSpec({ type: 'object', properties: { a: { type: 'integer', default: 'x' } } }),
  ),
  refused(
    'a rule that does not compile',
    withSpec({
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.b > 1' }],
    }),
  ),
  refused(
    'a rule that is not a condition',
    withSpec({
      type: 'object',
      properties: { a: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.a' }],
    }),
  ),
  refused(
    'a rule that is too dear',
    withSpec({
      type: 'array',
      items: { type: 'array', items: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'self.all(x, x.all(y, self.all(z, z.all(w, w == y))))' }],
    }),
  ),
  refused('a bad pattern', withSpec({ type: 'string', pattern: '(' })),
  refused(
    'list keys that are not there',
    withSpec({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: {} },
    }),
  ),
  refused('a scale without paths', withSpec({ type: 'object' }), { subresources: { scale: {} } }),
  refused('a bad column', withSpec({ type: 'object' }), {
    additionalPrinterColumns: [{ name: '', type: 'text', jsonPath: 'spec' }],
  }),
  {
    name: 'definition that goes lets what it has be changed, and nothing be made',
    steps: [
      create(CRDS, definition({ plural: 'relics', kind: 'Relic', group: own }), { pick: ['kind'] }),
      create(relics(), relic('held', { finalizers: ['example.com/hold'] }), { status: 201, eventually: true }),
      remove(`${CRDS}/relics.${own}`, undefined, { pick: ['kind'] }),
      create(`${relics()}?dryRun=All`, relic('new'), { status: 403, eventually: true }),
      apply(relics('applied'), 'me', relic('applied'), { status: 403 }),
      patch(MERGE_PATCH, relics('held'), { spec: { size: 2 } }, { pick: ['spec'] }),
      get(relics('held'), { pick: ['spec', 'metadata.finalizers'] }),
      patch(MERGE_PATCH, relics('held'), { metadata: { finalizers: null } }, { pick: ['metadata.finalizers'] }),
      get(`${CRDS}/relics.${own}`, { status: 404, eventually: true }),
    ],
  },
  {
    name: 'definition refuses a name that does not fit',
    steps: [create(CRDS, { ...gadget({ type: 'object' }), metadata: { name: 'wrong.example.test' } }, { status: 422 })],
  },
  {
    name: 'definition refuses two storage versions',
    steps: [
      create(
        CRDS,
        definition({
          plural: 'gadgets',
          kind: 'Gadget',
          group: own,
          versions: [version('v1', { type: 'object' }), version('v2', { type: 'object' })],
        }),
        { status: 422 },
      ),
    ],
  },
  {
    name: 'definition refuses no versions',
    steps: [create(CRDS, definition({ plural: 'gadgets', kind: 'Gadget', group: own, versions: [] }), { status: 422 })],
  },
  {
    name: 'definition refuses an odd scope',
    steps: [
      create(CRDS, definition({ plural: 'gadgets', kind: 'Gadget', group: own, scope: 'Universe' }), { status: 422 }),
    ],
  },
]

const leaving = '/apis/{ns}.example.test/v1/namespaces/{ns}/gadgets'
const leavingAt = `${CRDS}/gadgets.{ns}.example.test`
const leavingOne = (name: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: '{ns}.example.test/v1',
  kind: 'Gadget',
  metadata: { name, ...metadata },
})

const LIVES: readonly Case[] = [
  {
    name: 'definition waits for the finalizers of its objects, and lets them go',
    steps: [
      create(CRDS, definition({ plural: 'gadgets', kind: 'Gadget', group: '{ns}.example.test' }), { pick: ['kind'] }),
      get(leaving, { eventually: true }),
      create(leaving, leavingOne('a', { finalizers: ['tenure.test/wait'] })),
      remove(leavingAt, undefined, { pick: ['kind', 'metadata.finalizers'] }),
      create(leaving, leavingOne('b'), { eventually: true, status: 403 }),
      patch(MERGE_PATCH, `${leaving}/a`, { metadata: { labels: { a: 'b' } } }, { pick: ['metadata.labels'] }),
      patch(
        MERGE_PATCH,
        leavingAt,
        { metadata: { labels: { a: 'b' } } },
        { pick: ['metadata.labels', 'metadata.finalizers'] },
      ),
      patch(MERGE_PATCH, `${leaving}/a`, { metadata: { finalizers: null } }, { pick: ['kind'] }),
      get(leavingAt, { eventually: true, status: 404 }),
      get(leaving, { eventually: true, status: 404 }),
    ],
  },
]

const unqualified = (name = 'a'): JsonObject => ({ name, finalizers: ['unqualified'] })
const seen = { pick: ['kind', 'code', 'message', 'metadata.finalizers'] }
/** A dry run, because nothing would remove the finalizers. */
const dry = '?dryRun=All'

/** Each kind decides whether finalizers must be qualified by a domain. */
const FINALIZERS: readonly Case[] = [
  {
    name: 'finalizer that does not say whose it is, on kinds that take it',
    steps: [
      create(
        CRDS + dry,
        { ...definition({ plural: 'gadgets', kind: 'Gadget', group: own }), metadata: unqualified(`gadgets.${own}`) },
        seen,
      ),
      create(`/apis/coordination.k8s.io/v1/namespaces/{ns}/leases${dry}`, { metadata: unqualified() }, seen),
      ...['validating', 'mutating'].map((sort) =>
        create(
          `/apis/admissionregistration.k8s.io/v1/${sort}webhookconfigurations${dry}`,
          { metadata: unqualified() },
          seen,
        ),
      ),
    ],
  },
  {
    name: 'finalizer that does not say whose it is, on kinds that refuse it',
    steps: [
      create(`/api/v1/namespaces/{ns}/configmaps${dry}`, { metadata: unqualified() }, { ...seen, status: 422 }),
      create(
        `/apis/rbac.authorization.k8s.io/v1/clusterroles${dry}`,
        { metadata: unqualified() },
        { ...seen, status: 422 },
      ),
      create(
        `/apis/scheduling.k8s.io/v1/priorityclasses${dry}`,
        { metadata: unqualified(), value: 1 },
        { ...seen, status: 422 },
      ),
    ],
  },
]

export const customResourceCases: CaseGroup = {
  name: 'custom resources',
  cases: [...VALIDATION, ...STRICT, ...OBJECTS, ...DEFINITIONS, ...LIVES, ...FINALIZERS],
}
