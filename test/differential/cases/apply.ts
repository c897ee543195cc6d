import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { configMap, container, podTemplate, service, widget } from '../objects.ts'
import { apply, APPLY_PATCH, core, create, custom, get, MERGE_PATCH, patch, update } from '../steps.ts'

const map = core('configmaps', 'a')
const template = core('podtemplates', 'a')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `apply ${name}`, steps })

/** Omits `data` if it is empty, because an empty map is a value with an owner. */
const conf = (data: JsonObject, metadata: JsonObject = {}): JsonObject => {
  const { data: _, ...rest } = configMap('a', data, metadata)
  return Object.keys(data).length === 0 ? rest : { ...rest, data }
}
const owner = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: `{${name}}` })
const pods = (spec: JsonObject): JsonObject => podTemplate('a', spec)
const thing = (spec: JsonObject): JsonObject => widget('a', { size: 3, ...spec })
const widgetPath = custom('widgets', 'a')

const BASICS: readonly Case[] = [
  one('creates', apply(map, 'one', conf({ a: '1' }), { status: 201 }), get(map)),
  one(
    'twice changes nothing',
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    apply(map, 'one', conf({ a: '1' })),
  ),
  one(
    'with an empty identity says nothing about it',
    apply(map, 'one', conf({ a: '1' }, { resourceVersion: '', uid: '' }), { status: 201 }),
    apply(map, 'one', conf({ a: '2' }, { resourceVersion: '', uid: '' })),
    apply(map, 'one', conf({ a: '3' }, { resourceVersion: '0' })),
    apply(map, 'one', conf({ a: '4' }, { resourceVersion: 'abc' }), { status: 500 }),
  ),
  one(
    'creates whatever version it says',
    apply(map, 'one', conf({ a: '1' }, { resourceVersion: '5' }), { status: 201, query: 'dryRun=All' }),
    apply(map, 'one', conf({ a: '1' }, { resourceVersion: '5' }), { status: 201 }),
  ),
  one(
    'removes what it no longer says',
    apply(map, 'one', conf({ a: '1', b: '2' }), { status: 201 }),
    apply(map, 'one', conf({ a: '1' })),
    get(map),
  ),
  one(
    'keeps what others say',
    apply(map, 'one', conf({ a: '1', b: '2' }), { status: 201 }),
    apply(map, 'two', conf({ b: '2', c: '3' })),
    apply(map, 'one', conf({ a: '1' })),
    apply(map, 'one', conf({})),
  ),
  one(
    'conflicts',
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    apply(map, 'two', conf({ a: '2' }), { status: 409 }),
    get(map),
  ),
  one(
    'conflicts in several fields',
    apply(map, 'one', conf({ a: '1', b: '1' }, { labels: { x: '1' } }), { status: 201 }),
    apply(map, 'two', conf({ a: '2', b: '2' }, { labels: { x: '2' } }), { status: 409 }),
  ),
  one(
    'conflicts with several managers',
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    apply(map, 'two', conf({ b: '1' })),
    apply(map, 'three', conf({ a: '2', b: '2' }), { status: 409, unordered: true }),
  ),
  one(
    'forced takes over',
    apply(map, 'one', conf({ a: '1', b: '1' }), { status: 201 }),
    apply(map, 'two', conf({ a: '2' }), { force: true }),
    apply(map, 'one', conf({ b: '1' })),
    get(map),
  ),
  one(
    'shares equal values',
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    apply(map, 'two', conf({ a: '1' })),
    apply(map, 'one', conf({ a: '2' }), { status: 409 }),
  ),
  one(
    'conflicts with an update',
    create(core('configmaps'), conf({ a: '1' })),
    apply(map, 'one', conf({ a: '2' }), { status: 409 }),
    apply(map, 'one', conf({ a: '2' }), { force: true }),
  ),
  one(
    'gives way to an update',
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    update(`${map}?fieldManager=two`, conf({ a: '2' })),
    get(map),
    apply(map, 'one', conf({ a: '1' }), { status: 409 }),
  ),
  one(
    'gives way to a patch',
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    patch(MERGE_PATCH, `${map}?fieldManager=two`, { data: { a: '2', b: '1' } }),
    apply(map, 'one', conf({})),
  ),
  one(
    'by the same name as an update',
    create(`${core('configmaps')}?fieldManager=one`, conf({ a: '1' })),
    apply(map, 'one', conf({ a: '2' }), { status: 409 }),
    apply(map, 'one', conf({ a: '1' })),
  ),
  one('needs a manager', patch(APPLY_PATCH, map, conf({}), { status: 422 })),
  one('needs a kind', patch(APPLY_PATCH, `${map}?fieldManager=one`, { metadata: { name: 'a' } }, { status: 400 })),
  one(
    'refuses managed fields',
    apply(
      map,
      'one',
      conf(
        {},
        {
          managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
        },
      ),
      { status: 400 },
    ),
  ),
  one('refuses another name', apply(map, 'one', configMap('b'), { status: 400 })),
  one('refuses another kind', apply(map, 'one', { ...conf({}), kind: 'Secret' }, { status: 400 })),
  one('refuses unknown fields', apply(map, 'one', { ...conf({}), wrong: 1 }, { status: 500 })),
  one('refuses wrong types', apply(map, 'one', { ...conf({}), data: { a: 1 } }, { status: 500 })),
  one('refuses bad values', apply(map, 'one', conf({ 'bad key': '1' }), { status: 422 })),
  one(
    'with a version',
    apply(map, 'one', conf({ a: '1' }), { status: 201, save: { rv: 'metadata.resourceVersion' } }),
    apply(map, 'one', conf({ a: '2' }, { resourceVersion: '{rv}' })),
    apply(map, 'one', conf({ a: '3' }, { resourceVersion: '{rv}' }), { status: 409 }),
  ),
  one(
    'with a uid to what is not there',
    apply(map, 'one', conf({}, { uid: '11111111-2222-3333-4444-555555555555' }), { status: 409 }),
  ),
  one(
    'as a dry run',
    apply(map, 'one', conf({ a: '1' }), { status: 201, query: 'dryRun=All' }),
    get(map, { status: 404 }),
    apply(map, 'one', conf({ a: '1' }), { status: 201 }),
    apply(map, 'two', conf({ a: '2' }), { status: 409, query: 'dryRun=All' }),
    apply(map, 'two', conf({ a: '2' }), { force: true, query: 'dryRun=All' }),
    get(map),
  ),
  one(
    'force is only for apply',
    create(core('configmaps'), conf({})),
    patch(MERGE_PATCH, `${map}?force=true`, {}, { status: 422 }),
  ),
  one(
    'in YAML',
    patch(
      APPLY_PATCH,
      `${map}?fieldManager=one`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "1"\n',
      { status: 201 },
    ),
  ),
  one(
    'in broken YAML',
    patch(APPLY_PATCH, `${map}?fieldManager=one`, 'a: [1', { status: 400 }),
    patch(APPLY_PATCH, `${map}?fieldManager=one`, 'just text', { status: 400 }),
  ),
  one('without a namespace in the body', apply(map, 'one', conf({}, { namespace: '{ns}' }), { status: 201 })),
  one(
    'null is a value',
    apply(map, 'one', { ...conf({}), data: null }, { status: 201 }),
    apply(map, 'one', conf({ a: '1' })),
    apply(map, 'one', { ...conf({}), data: null }),
  ),
  one(
    'of metadata',
    apply(map, 'one', conf({}, { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['x.test/a'] }), {
      status: 201,
    }),
    apply(map, 'two', conf({}, { finalizers: ['x.test/b'] })),
    apply(map, 'one', conf({})),
    apply(map, 'two', conf({})),
  ),
  one(
    'of owners',
    create(core('configmaps'), configMap('p'), { save: { p: 'metadata.uid' } }),
    create(core('configmaps'), configMap('q'), { save: { q: 'metadata.uid' } }),
    apply(map, 'one', conf({}, { ownerReferences: [owner('p')] }), { status: 201 }),
    apply(map, 'two', conf({}, { ownerReferences: [owner('q')] })),
    apply(map, 'one', conf({})),
  ),
]

const LISTS: readonly Case[] = [
  one(
    'merges containers by name',
    apply(template, 'one', pods({ containers: [container('web'), container('side')] }), { status: 201 }),
    apply(template, 'two', pods({ containers: [{ name: 'web', env: [{ name: 'A', value: '1' }] }] })),
    apply(template, 'one', pods({ containers: [container('web')] })),
    apply(template, 'two', pods({ containers: [{ name: 'web', ports: [{ containerPort: 80 }] }] })),
    apply(template, 'two', pods({ containers: [{ name: 'web', image: 'mine' }] }), { status: 409 }),
  ),
  one(
    'keeps the order of who came first',
    apply(template, 'one', pods({ containers: [container('b'), container('a')] }), { status: 201 }),
    apply(template, 'two', pods({ containers: [container('c'), { name: 'a' }, { name: 'b' }] })),
  ),
  one(
    'refuses the same key twice',
    apply(template, 'one', pods({ containers: [container('a'), container('a')] }), { status: 500 }),
  ),
  one('refuses a missing key', apply(template, 'one', pods({ containers: [{ image: 'x' }] }), { status: 422 })),
  one(
    'knows default keys',
    apply(template, 'one', pods({ containers: [container('a', { ports: [{ containerPort: 80 }] })] }), { status: 201 }),
    apply(
      template,
      'two',
      pods({
        containers: [
          {
            name: 'a',
            ports: [
              { containerPort: 80, protocol: 'TCP', name: 'x' },
              { containerPort: 80, protocol: 'UDP' },
            ],
          },
        ],
      }),
    ),
  ),
  one(
    'replaces atomic lists',
    apply(template, 'one', pods({ containers: [container('a', { args: ['1'] })] }), { status: 201 }),
    apply(template, 'two', pods({ containers: [{ name: 'a', args: ['2'] }] }), { status: 409 }),
    apply(template, 'two', pods({ containers: [{ name: 'a', args: ['2'] }] }), { force: true }),
  ),
  one(
    'of ports of a service',
    apply(core('services', 'a'), 'one', service('a', { ports: [{ port: 80, name: 'a' }] }), { status: 201 }),
    apply(core('services', 'a'), 'two', service('a', { ports: [{ port: 81, name: 'b' }] })),
    apply(core('services', 'a'), 'one', service('a', { ports: [{ port: 82, name: 'a' }] })),
  ),
  one(
    'of volumes and selectors',
    apply(
      template,
      'one',
      pods({
        containers: [container('a')],
        volumes: [{ name: 'v', emptyDir: {} }],
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'x', operator: 'Exists' }],
      }),
      { status: 201 },
    ),
    apply(template, 'two', pods({ volumes: [{ name: 'w', configMap: { name: 'x' } }] })),
    apply(template, 'one', pods({ containers: [container('a')] })),
  ),
  one(
    'of amounts',
    apply(template, 'one', pods({ containers: [container('a', { resources: { limits: { cpu: '1000m' } } })] }), {
      status: 201,
    }),
    apply(template, 'one', pods({ containers: [container('a', { resources: { limits: { cpu: '1' } } })] })),
  ),
]

const CUSTOM: readonly Case[] = [
  one(
    'of null where none may be, and where there is a default, or one may',
    apply(widgetPath, 'one', thing({ code: null }), { status: 422 }),
    apply(widgetPath, 'one', thing({ ports: null }), { status: 422 }),
    apply(widgetPath, 'one', thing({ mode: null, maybe: null, nested: null }), { status: 201 }),
    apply(widgetPath, 'one', thing({ code: null }), { status: 422 }),
    apply(widgetPath, 'one', thing({ tags: [] })),
    apply(widgetPath, 'one', thing({ tags: null }), { status: 422 }),
    create(`${custom('widgets')}?dryRun=All`, { ...thing({ code: null }), metadata: { name: 'b' } }),
  ),
  one(
    'of a custom resource',
    apply(widgetPath, 'one', thing({ code: 'abc' }), { status: 201 }),
    apply(widgetPath, 'one', thing({})),
    get(widgetPath),
  ),
  one(
    'of sets',
    apply(widgetPath, 'one', thing({ tags: ['a', 'b'] }), { status: 201 }),
    apply(widgetPath, 'two', thing({ tags: ['b', 'c'] })),
    apply(widgetPath, 'one', thing({ tags: ['a'] })),
    apply(widgetPath, 'two', thing({ tags: [] })),
  ),
  one(
    'of lists by two keys',
    apply(widgetPath, 'one', thing({ ports: [{ port: 1 }, { port: 2, protocol: 'UDP' }] }), { status: 201 }),
    apply(
      widgetPath,
      'two',
      thing({
        ports: [
          { port: 1, note: 'x' },
          { port: 1, protocol: 'UDP' },
        ],
      }),
    ),
    apply(widgetPath, 'one', thing({ ports: [{ port: 2, protocol: 'UDP' }] })),
  ),
  one(
    'of atomic maps',
    apply(widgetPath, 'one', thing({ atomic: { a: '1' } }), { status: 201 }),
    apply(widgetPath, 'two', thing({ atomic: { b: '1' } }), { status: 409 }),
  ),
  one(
    'of free fields',
    apply(widgetPath, 'one', thing({ free: { a: { b: 1 }, list: [1, 2] } }), { status: 201 }),
    apply(widgetPath, 'two', thing({ free: { a: { c: 2 } } })),
    apply(widgetPath, 'one', thing({ free: {} })),
  ),
  one(
    'of nested defaults',
    apply(widgetPath, 'one', thing({ nested: { inner: {} } }), { status: 201 }),
    apply(widgetPath, 'one', thing({})),
  ),
  one(
    'of unknown fields of a custom resource',
    apply(widgetPath, 'one', thing({ wrong: 1 }), { status: 500 }),
    apply(widgetPath, 'one', thing({ wrong: 1 }), { query: 'fieldValidation=Strict', status: 500 }),
  ),
  one(
    'of invalid custom resources',
    apply(widgetPath, 'one', thing({ mode: 'odd' }), { status: 422 }),
    apply(widgetPath, 'one', thing({ size: 'three' }), { status: 500 }),
  ),
  one(
    'of the status',
    apply(widgetPath, 'one', thing({}), { status: 201 }),
    apply(
      `${widgetPath}/status`,
      'two',
      widget('a', {}, { status: { phase: 'Ready', conditions: [{ type: 'Up', status: 'True' }] } }),
    ),
    apply(
      `${widgetPath}/status`,
      'three',
      widget('a', {}, { status: { conditions: [{ type: 'Warm', status: 'False' }] } }),
    ),
    apply(`${widgetPath}/status`, 'two', widget('a', {}, { status: { phase: 'Ready' } })),
    get(widgetPath),
  ),
  one('ignores the status', apply(widgetPath, 'one', { ...thing({}), status: { phase: 'Ready' } }, { status: 201 })),
  one(
    'of another version',
    apply(widgetPath, 'one', thing({ code: 'abc' }), { status: 201 }),
    apply('/apis/{group}/v1beta1/namespaces/{ns}/widgets/a', 'one', {
      ...thing({ code: 'abd' }),
      apiVersion: '{group}/v1beta1',
    }),
    apply(
      '/apis/{group}/v1beta1/namespaces/{ns}/widgets/a',
      'two',
      { ...thing({ code: 'abe' }), apiVersion: '{group}/v1beta1' },
      { status: 409 },
    ),
  ),
  one(
    'through the scale',
    apply(widgetPath, 'one', thing({ replicas: 2 }), { status: 201 }),
    patch(MERGE_PATCH, `${widgetPath}/scale?fieldManager=scaler`, { spec: { replicas: 3 } }),
    get(widgetPath),
    apply(widgetPath, 'one', thing({ replicas: 2 }), { status: 409 }),
  ),
]

export const applyCases: CaseGroup = { name: 'apply', cases: [...BASICS, ...LISTS, ...CUSTOM] }
