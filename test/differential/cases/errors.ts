/** Invalid requests of all kinds. */
import type { Case, CaseGroup, Json } from '../case.ts'
import { configMap, widget } from '../objects.ts'
import {
  APPLY_PATCH,
  core,
  create,
  custom,
  get,
  JSON_PATCH,
  MERGE_PATCH,
  patch,
  remove,
  STRATEGIC_PATCH,
  update,
} from '../steps.ts'

const maps = core('configmaps')
const map = core('configmaps', 'a')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `error ${name}`, steps })
const nothing = get(map, { status: 404 })
const deep = (depth: number): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
const deepWidget = (depth: number): string =>
  `{"apiVersion":"{group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3,"free":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}}`
const text = (...parts: readonly string[]): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}${parts.join('')}}`

/** Bodies of a create. */
const BODIES: readonly (readonly [string, Json, number])[] = [
  ['of no bytes', '', 400],
  ['of half an object', '{"apiVersion":"v1"', 400],
  ['of text', 'hello', 400],
  ['of a list', '[]', 400],
  ['of null', 'null', 422],
  ['of a number', '5', 400],
  ['of an empty object', '{}', 422],
  ['with a comma too many', '{"a":1,}', 400],
  ['with a stray character', '{"a":1}}', 400],
  ['with a control character', '{"a":"\u0001"}', 400],
  ['with a bad escape', '{"a":"\\x"}', 400],
  ['with a bad number', text(',"data":01'), 400],
  ['with single quotes', "{'a':1}", 400],
  ['of another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, 400],
  ['of another group', { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'a' } }, 400],
  ['of a kind that is none', { apiVersion: 'v1', kind: 'Nonsense', metadata: { name: 'a' } }, 400],
  ['of a version that is none', { apiVersion: 'a/b/c', kind: 'ConfigMap', metadata: { name: 'a' } }, 400],
  ['without a kind', { apiVersion: 'v1', metadata: { name: 'a' } }, 201],
  ['with a kind of the wrong type', { apiVersion: 'v1', kind: 5, metadata: { name: 'a' } }, 400],
  ['with metadata of the wrong type', { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'a' }, 400],
  [
    'with labels of the wrong type',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: 1 } } },
    400,
  ],
  ['with a name of the wrong type', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 5 } }, 400],
  ['with data of the wrong type', text(',"data":["a"]'), 400],
  ['with a number in data', text(',"data":{"a":1}'), 400],
  ['with bad base64', text(',"binaryData":{"a":"!!!"}'), 400],
  [
    'with a bad time',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', creationTimestamp: 'yesterday' } },
    400,
  ],
  ['with deep nesting', deep(200), 400],
  ['with very deep nesting', deep(10_001), 400],
  ['with __proto__ in data', text(',"data":{"__proto__":"x","constructor":"y"}'), 201],
  ['with __proto__ as a field', text(',"__proto__":{"polluted":"yes"}'), 201],
  [
    'with __proto__ in metadata',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","__proto__":{"x":1},"labels":{"__proto__":"x"}}}',
    422,
  ],
  ['with strange letters', text(',"data":{"a":"\\u00e9\\ud83d\\ude00\\u2028"}'), 201],
  ['with half a letter', text(',"data":{"a":"\\ud800"}'), 201],
  ['with a byte order mark', `\uFEFF${text()}`, 400],
]

const CREATES: readonly Case[] = BODIES.map(([title, body, status]) =>
  one(`body ${title}`, create(maps, body, { status }), get(map, { status: status === 201 ? 200 : 404 })),
)

const OTHERS: readonly Case[] = [
  one('body too large', create(maps, configMap('a', { a: 'x'.repeat(3_200_000) }), { status: 413 }), nothing),
  one('object too large', create(maps, configMap('a', { a: 'x'.repeat(1_100_000) }), { status: 422 }), nothing),
  one(
    'body of a type that is none',
    create(maps, configMap('a'), { status: 415, headers: { 'content-type': 'text/plain' } }),
    create(maps, configMap('a'), { status: 415, headers: { 'content-type': 'application/xml' } }),
    update(map, configMap('a'), { status: 415, headers: { 'content-type': 'text/plain' } }),
    nothing,
  ),
  one(
    'broken YAML',
    create(maps, 'a: [1', { status: 400, headers: { 'content-type': 'application/yaml' } }),
    create(maps, 'a: b: c', { status: 400, headers: { 'content-type': 'application/yaml' } }),
    create(maps, 'text', { status: 400, headers: { 'content-type': 'application/yaml' } }),
    create(maps, '\tkind: ConfigMap', { status: 400, headers: { 'content-type': 'application/yaml' } }),
  ),
  one(
    'update with bad bodies',
    create(maps, configMap('a')),
    ...['', '{', 'null', '[]', '{"metadata":5}'].map((body) => update(map, body, { status: 400 })),
  ),
  one(
    'methods that are not allowed',
    { method: 'POST', path: map, body: {}, status: 405 },
    { method: 'PUT', path: maps, body: {}, status: 405 },
    { method: 'PATCH', path: maps, body: {}, status: 405 },
    { method: 'OPTIONS', path: maps, status: 405 },
  ),
  one(
    'paths that are none',
    ...[
      '/nonsense',
      '/api/v2',
      '/api/v1/nonsense',
      '/apis/nonsense/v1',
      '/apis/apps/v9/deployments',
      '/apis/apps/v1/nonsense',
      `${maps}/a/nonsense`,
      `${maps}/a/status/more`,
      '/api/v1/namespaces/{ns}/nodes',
      '/apis/{group}/v1/nonsense',
      '/apis/{group}/v9/widgets',
    ].map((path) => get(path, { status: 404 })),
  ),
  one(
    'namespaced resources without a namespace',
    create('/api/v1/configmaps', configMap('a'), { status: 405 }),
    get('/api/v1/configmaps/a', { status: 404 }),
  ),
  one(
    'names that are none',
    get(`${maps}/%2e%2e`, { status: 400 }),
    get(`${maps}/A_B`, { status: 404 }),
    get(`${maps}/${'x'.repeat(300)}`, { status: 404 }),
    get(`${maps}/__proto__`, { status: 404 }),
    get('/api/v1/namespaces/__proto__/configmaps'),
    get('/apis/__proto__/v1/constructor', { status: 404 }),
  ),
  one(
    'selectors with __proto__',
    get(`${maps}?labelSelector=__proto__%3Dx`, { status: 400 }),
    get(`${maps}?labelSelector=constructor`),
    get(`${maps}?fieldSelector=__proto__%3Dx`, { status: 400 }),
    get(`${maps}?fieldSelector=constructor%3Dx`, { status: 400 }),
  ),
  one(
    'selectors that are absurd',
    get(`${maps}?labelSelector=${'a,'.repeat(2_000)}a`),
    get(`${maps}?labelSelector=${encodeURIComponent(`a in (${'x,'.repeat(1_000)}y)`)}`),
  ),
  one(
    'parameters of the wrong type',
    get(`${maps}?limit=many`, { status: 400 }),
    get(`${maps}?timeoutSeconds=x`, { status: 400 }),
    get(`${core('secrets')}?watch=perhaps&timeoutSeconds=1`),
    create(`${maps}?dryRun=false`, configMap('a'), { status: 422 }),
  ),
  one(
    'patches with __proto__',
    create(maps, configMap('a')),
    patch(MERGE_PATCH, map, '{"__proto__":{"x":1},"data":{"__proto__":"y"}}'),
    patch(STRATEGIC_PATCH, map, '{"data":{"__proto__":"z","constructor":"c"}}'),
    patch(JSON_PATCH, map, '[{"op":"add","path":"/data/__proto__","value":"j"}]'),
    patch(JSON_PATCH, map, '[{"op":"add","path":"/__proto__/polluted","value":"j"}]', { status: 422 }),
    patch(
      APPLY_PATCH,
      `${map}?fieldManager=one`,
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"p"}}',
      { status: 409 },
    ),
    get(map),
  ),
  one(
    'custom resources with __proto__',
    create(
      custom('widgets'),
      '{"apiVersion":"{group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3,"__proto__":{"x":1},"free":{"__proto__":{"y":2},"constructor":1},"counts":{"__proto__":4}}}',
    ),
    patch(MERGE_PATCH, custom('widgets', 'a'), '{"spec":{"free":{"__proto__":null,"toString":2}}}'),
    get(custom('widgets', 'a')),
  ),
  one(
    'custom resources with bad bodies',
    ...['', '{', 'null', '[]', '5'].map((body) => create(custom('widgets'), body, { status: 400 })),
    create(custom('widgets'), widget('a'), { status: 415, headers: { 'content-type': 'text/plain' } }),
  ),
  one(
    'patches with deep nesting',
    create(maps, configMap('a')),
    patch(MERGE_PATCH, map, `${'{"data":'.repeat(50)}1${'}'.repeat(50)}`, { status: 422 }),
    get(map),
  ),
  one('custom resources with deep nesting', create(custom('widgets'), deepWidget(490), { pick: ['spec.size'] })),
  one('custom resources with deeper nesting', create(custom('widgets'), deepWidget(1000), { pick: ['spec.size'] })),
  one(
    'deletes with bad bodies',
    create(maps, configMap('a')),
    remove(map, '[', { status: 400 }),
    remove(map, { gracePeriodSeconds: 'x' }, { status: 400 }),
    get(map),
    remove(map, { kind: 'DeleteOptions', apiVersion: 'v9' }),
  ),
  one(
    'strangers',
    { method: 'GET', path: maps, as: 'invalid-token', status: 401 },
    { method: 'POST', path: maps, body: configMap('a'), as: 'invalid-token', status: 401 },
  ),
]

export const errorCases: CaseGroup = { name: 'errors', cases: [...CREATES, ...OTHERS] }
