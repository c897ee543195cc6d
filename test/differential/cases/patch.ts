import type { Case, CaseGroup, Json, JsonObject } from '../case.ts'
import { configMap, container, lease, podTemplate, role, secret, service, widget } from '../objects.ts'
import { core, create, custom, get, JSON_PATCH, MERGE_PATCH, named, patch, STRATEGIC_PATCH } from '../steps.ts'

interface Subject {
  readonly title: string
  readonly path: string
  readonly object: JsonObject
  /** The change, as a merge patch. */
  readonly change: JsonObject
  /** A JSON pointer to an existing list, and the item to add. */
  readonly isCustom?: boolean
}

const SUBJECTS: readonly Subject[] = [
  {
    title: 'a config map',
    path: core('configmaps'),
    object: configMap('a', { a: '1', b: '2' }),
    change: { data: { a: '9', b: null, c: '3' } },
  },
  {
    title: 'a secret',
    path: core('secrets'),
    object: secret('a'),
    change: { data: { password: null, other: 'aGk=' } },
  },
  {
    title: 'a service',
    path: core('services'),
    object: service('a'),
    change: { spec: { selector: { app: null, x: 'y' } } },
  },
  {
    title: 'a lease',
    path: named('coordination.k8s.io/v1', 'leases'),
    object: lease('a'),
    change: { spec: { holderIdentity: 'b' } },
  },
  {
    title: 'a role',
    path: named('rbac.authorization.k8s.io/v1', 'roles'),
    object: role('a'),
    change: { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get'] }] },
  },
  {
    title: 'a pod template',
    path: core('podtemplates'),
    object: podTemplate('a', { containers: [container('web')] }),
    change: { template: { spec: { priority: 3, nodeSelector: { a: 'b' } } } },
  },
  {
    title: 'a custom resource',
    path: custom('widgets'),
    object: widget('a'),
    change: { spec: { size: 9, code: 'abc', tags: ['x'] } },
    isCustom: true,
  },
]

const EVERY: readonly Case[] = SUBJECTS.flatMap(({ title, path, object, change, isCustom }) => {
  const at = `${path}/a`
  const labels = { metadata: { labels: { one: 'two' }, annotations: { three: 'four' } } }
  const types = isCustom ? [MERGE_PATCH] : [MERGE_PATCH, STRATEGIC_PATCH]
  return [
    ...types.map((type) => ({
      name: `patch ${title} with ${type}`,
      steps: [
        create(path, object),
        patch(type, at, change),
        patch(type, at, labels),
        patch(type, at, { metadata: { labels: { one: null } } }),
        patch(type, at, {}),
        patch(type, `${at}?dryRun=All`, { metadata: { labels: { dry: 'run' } } }),
        get(at),
      ],
    })),
    {
      name: `patch ${title} with ${JSON_PATCH}`,
      steps: [
        create(path, object),
        patch(JSON_PATCH, at, [{ op: 'add', path: '/metadata/labels', value: { one: 'two' } }]),
        patch(JSON_PATCH, at, [
          { op: 'test', path: '/metadata/labels/one', value: 'two' },
          { op: 'replace', path: '/metadata/labels/one', value: 'three' },
          { op: 'copy', from: '/metadata/labels/one', path: '/metadata/labels/copy' },
          { op: 'move', from: '/metadata/labels/copy', path: '/metadata/labels/moved' },
        ]),
        patch(JSON_PATCH, at, [{ op: 'remove', path: '/metadata/labels/one' }]),
        patch(JSON_PATCH, at, []),
        get(at),
      ],
    },
  ]
})

const map = core('configmaps', 'a')
const made = create(core('configmaps'), configMap('a'), {
  save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' },
})
const onMap = (name: string, ...steps: Case['steps']): Case => ({ name: `patch ${name}`, steps: [made, ...steps] })

const JSON_ERRORS: readonly (readonly [string, Json, number])[] = [
  ['a test that fails', [{ op: 'test', path: '/data/a', value: '2' }], 422],
  ['a path that is not there', [{ op: 'remove', path: '/data/none' }], 422],
  ['a replacement in nothing', [{ op: 'replace', path: '/none/a', value: '1' }], 422],
  ['a parent that is not there', [{ op: 'add', path: '/none/a', value: '1' }], 422],
  ['an operation that is none', [{ op: 'burn', path: '/data/a' }], 422],
  ['an object instead of a list', { op: 'add' }, 400],
  ['broken JSON', '[{"op"', 400],
  ['a copy from nowhere', [{ op: 'copy', from: '/none/a', path: '/data/b' }], 422],
  ['an operation without a path', [{ op: 'add', value: '1' }], 422],
  ['a value of the wrong type', [{ op: 'add', path: '/data/n', value: 5 }], 422],
]

const OTHER: readonly Case[] = [
  onMap(
    'JSON replaces and copies what is not there',
    patch(JSON_PATCH, map, [{ op: 'replace', path: '/data/none', value: '1' }]),
    patch(JSON_PATCH, map, [{ op: 'copy', from: '/data/nowhere', path: '/data/b' }]),
  ),
  ...JSON_ERRORS.map(([title, body, status]) =>
    onMap(`JSON refuses ${title}`, patch(JSON_PATCH, map, body, { status }), get(map)),
  ),
  onMap(
    'JSON with escapes',
    patch(
      JSON_PATCH,
      map,
      [
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/a.test~1b', value: 'x' },
        { op: 'add', path: '/metadata/annotations/tilde~0', value: 'y' },
      ],
      { status: 422 },
    ),
  ),
  onMap(
    'JSON that replaces all',
    patch(JSON_PATCH, map, [{ op: 'replace', path: '', value: configMap('a', { z: '1' }) }]),
  ),
  onMap(
    'JSON with too many operations',
    patch(
      JSON_PATCH,
      map,
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
      { status: 413 },
    ),
  ),
  onMap(
    'merge with the version',
    patch(MERGE_PATCH, map, { metadata: { resourceVersion: '{rv}' }, data: { b: '1' } }),
    patch(MERGE_PATCH, map, { metadata: { resourceVersion: '{rv}' }, data: { b: '2' } }, { status: 409 }),
  ),
  onMap(
    'merge with another uid',
    patch(MERGE_PATCH, map, { metadata: { uid: '11111111-2222-3333-4444-555555555555' } }, { status: 422 }),
  ),
  onMap('merge of another name', patch(MERGE_PATCH, map, { metadata: { name: 'b' } }, { status: 400 })),
  onMap('merge of another kind', patch(MERGE_PATCH, map, { kind: 'Secret' }, { status: 422 })),
  onMap(
    'merge with wrong types',
    patch(MERGE_PATCH, map, { data: { a: 5 } }, { status: 422 }),
    patch(MERGE_PATCH, map, { data: 'text' }, { status: 422 }),
  ),
  onMap('merge with bad labels', patch(MERGE_PATCH, map, { metadata: { labels: { 'a b': 'c' } } }, { status: 422 })),
  onMap('merge with a list', patch(MERGE_PATCH, map, [], { status: 400 })),
  onMap(
    'merge with broken JSON',
    patch(MERGE_PATCH, map, '{"a":', { status: 400 }),
    patch(STRATEGIC_PATCH, map, '{"a":', { status: 400 }),
  ),
  onMap('merge with an empty body', patch(MERGE_PATCH, map, '', { status: 400 })),
  onMap('merge with null', patch(MERGE_PATCH, map, 'null', { status: 400 })),
  onMap(
    'merge with unknown fields',
    patch(MERGE_PATCH, `${map}?fieldValidation=Strict`, { wrong: 1 }, { status: 422 }),
    patch(MERGE_PATCH, `${map}?fieldValidation=Warn`, { wrong: 1 }),
    patch(MERGE_PATCH, `${map}?fieldValidation=Ignore`, { wrong: 1 }),
  ),
  onMap('merge removes everything', patch(MERGE_PATCH, map, { data: null, metadata: { labels: null } })),
  onMap(
    'of a type that is none',
    patch('application/unknown', map, {}, { status: 415 }),
    patch('application/json', map, {}, { status: 415 }),
  ),
  {
    name: 'patch of what is not there',
    steps: [
      patch(MERGE_PATCH, map, {}, { status: 404 }),
      patch(JSON_PATCH, map, [], { status: 404 }),
      patch(STRATEGIC_PATCH, map, {}, { status: 404 }),
    ],
  },
  {
    name: 'patch strategic is not for custom resources',
    steps: [
      create(custom('widgets'), widget('a')),
      patch(STRATEGIC_PATCH, custom('widgets', 'a'), {}, { status: 415 }),
    ],
  },
  onMap(
    'by two managers',
    patch(MERGE_PATCH, `${map}?fieldManager=two`, { data: { a: '2', b: '1' } }),
    patch(JSON_PATCH, `${map}?fieldManager=three`, [{ op: 'remove', path: '/data/b' }]),
    get(map),
  ),
  onMap(
    'that changes nothing keeps the version',
    patch(MERGE_PATCH, map, { data: { a: '1' } }),
    patch(STRATEGIC_PATCH, map, { data: { a: '1' } }),
  ),
]

const template = core('podtemplates', 'a')
const spec: JsonObject = {
  containers: [
    container('one', {
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 81 }],
      args: ['x', 'y'],
    }),
    container('two'),
  ],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'a', operator: 'Exists' }],
}

/** Features of strategic merge patches: list keys, order, directives. */
const STRATEGIC: readonly (readonly [string, JsonObject, number?])[] = [
  ['merges containers by name', { containers: [{ name: 'two', image: 'new' }, container('three')] }],
  [
    'merges inside of containers',
    {
      containers: [
        {
          name: 'one',
          env: [
            { name: 'B', value: '9' },
            { name: 'C', value: '3' },
          ],
          ports: [{ containerPort: 80, name: 'http' }],
        },
      ],
    },
  ],
  ['deletes by name', { containers: [{ name: 'two', $patch: 'delete' }] }],
  ['replaces a list', { containers: [{ $patch: 'replace' }, container('only')] }],
  ['replaces an object', { volumes: [{ name: 'v', emptyDir: null, configMap: { name: 'x' } }] }],
  [
    'replaces atomic lists',
    { tolerations: [{ key: 'b', operator: 'Exists' }], containers: [{ name: 'one', args: ['z'] }] },
  ],
  [
    'orders elements',
    {
      '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }],
      containers: [{ name: 'one', image: 'moved' }],
    },
  ],
  ['retains keys', { volumes: [{ $retainKeys: ['name', 'configMap'], name: 'v', configMap: { name: 'x' } }] }],
  ['deletes from a list of values', { '$deleteFromPrimitiveList/finalizers': ['x'] }],
  ['needs the key', { containers: [{ image: 'nameless' }] }, 500],
  ['knows its directives', { containers: [{ name: 'one', $patch: 'explode' }] }, 500],
  [
    'refuses what the order does not have',
    { '$setElementOrder/containers': [{ name: 'two' }], containers: [{ name: 'one', image: 'x' }] },
    500,
  ],
  ['refuses wrong types', { containers: 'none' }, 422],
]

const STRATEGIC_CASES: readonly Case[] = STRATEGIC.map(([title, change, status = 200]) => ({
  name: `patch strategic ${title}`,
  steps: [
    create(core('podtemplates'), podTemplate('a', spec)),
    patch(STRATEGIC_PATCH, template, { template: { spec: change } }, { status }),
    get(template),
  ],
}))

export const patchCases: CaseGroup = { name: 'patch', cases: [...EVERY, ...OTHER, ...STRATEGIC_CASES] }
