import type { Case, CaseGroup } from '../case.ts'
import { configMap, pod, secret, widget } from '../objects.ts'
import { core, create, custom, get, MERGE_PATCH, patch, remove, update } from '../steps.ts'

const secrets = core('secrets')
const maps = core('configmaps')
const labelled = (name: string, labels: Readonly<Record<string, string>>): ReturnType<typeof create> =>
  create(secrets, secret(name, { labels }))
const three = [
  labelled('a', { app: 'x', tier: 'front' }),
  labelled('b', { app: 'y' }),
  labelled('c', { app: 'x', tier: 'back' }),
]
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `list ${name}`, steps })
const query = (text: string): string => `${secrets}?${text}`
const labels = (selector: string): string => query(`labelSelector=${encodeURIComponent(selector)}`)
const fields = (selector: string): string => query(`fieldSelector=${encodeURIComponent(selector)}`)

const SELECTORS = [
  'app=x',
  'app==x',
  'app!=x',
  'app in (x,y)',
  'app notin (x)',
  'tier',
  '!tier',
  'app=x,tier=back',
  'app in (x),!none',
  ' app = x ',
  'n>1',
  'app=',
  'app in ()',
]
const BAD_SELECTORS = [
  'app in x',
  '=x',
  'app=x y',
  'a b',
  'app=(',
  'app>x',
  '-bad=x',
  `app=${'x'.repeat(64)}`,
  'app in (x',
  ',',
]
const FIELDS = [
  'metadata.name=b',
  'metadata.name!=b',
  'metadata.namespace={ns}',
  'type=Opaque',
  'metadata.name=a,type=Opaque',
  'metadata.name=',
]
const BAD_FIELDS = ['metadata.labels=x', 'data=x', 'metadata.name>b', 'nonsense', 'type']

const encoded = (json: string): string => Buffer.from(json).toString('base64url')
const tokenOf = (version: string, start: string): string =>
  encoded(`{"v":"meta.k8s.io/v1","rv":${version},"start":"${start}\\u0000"}`)
const BAD_TOKENS = [
  ...['1e+300', '1.5', '"5"', 'true', '{}', '0'].map((version) => tokenOf(version, 'x')),
  ...['../x', 'x//y', 'x/./y'].map((start) => tokenOf('1', start)),
  encoded('[1]'),
  encoded('{"v":"meta.k8s.io/v1","rv":1,"start":5}'),
  encoded('{"v":5,"rv":1,"start":"x"}'),
  encoded('{"v":"meta.k8s.io/v2","rv":1,"start":"x"}'),
  encoded('{"v":"meta.k8s.io/v1","rv":1}'),
]

const LISTS: readonly Case[] = [
  one('nothing', get(secrets)),
  one('everything', ...three, get(secrets)),
  ...SELECTORS.map((selector) => one(`with labels ${selector}`, ...three, get(labels(selector)))),
  one('with bad labels', ...BAD_SELECTORS.map((selector) => get(labels(selector), { status: 400 }))),
  ...FIELDS.map((selector) => one(`with fields ${selector}`, ...three, get(fields(selector)))),
  one('with bad fields', ...BAD_FIELDS.map((selector) => get(fields(selector), { status: 400 }))),
  one(
    'in pages',
    ...three,
    get(query('limit=2'), { save: { next: 'metadata.continue' } }),
    get(query('limit=2&continue={next}')),
  ),
  one(
    'in pages one by one',
    ...three,
    get(query('limit=1'), { save: { next: 'metadata.continue' } }),
    get(query('limit=1&continue={next}'), { save: { next: 'metadata.continue' } }),
    get(query('limit=1&continue={next}')),
  ),
  one(
    'in pages of a snapshot',
    ...three,
    get(query('limit=1'), { save: { next: 'metadata.continue' } }),
    remove(core('secrets', 'b')),
    labelled('ab', {}),
    get(query('limit=5&continue={next}')),
  ),
  one(
    'in pages with labels',
    ...three,
    get(`${labels('app=x')}&limit=1`, { save: { next: 'metadata.continue' } }),
    get(`${labels('app=x')}&limit=1&continue={next}`),
  ),
  one('with a limit that is enough', ...three, get(query('limit=3')), get(query('limit=500')), get(query('limit=0'))),
  one('with bad limits', get(query('limit=-1')), get(query('limit=abc'), { status: 400 })),
  one(
    'with bad tokens',
    get(query('limit=1&continue=nonsense'), { status: 400 }),
    get(query('limit=1&continue=e30'), { status: 400 }),
    ...BAD_TOKENS.map((token) => get(query(`limit=1&continue=${token}`), { status: 400 })),
    get(query(`limit=1&continue=${tokenOf('900000000000000', 'x')}`), { status: 504 }),
  ),
  one(
    'at a version',
    ...three.slice(0, 1),
    get(secrets, { save: { rv: 'metadata.resourceVersion' } }),
    labelled('later', {}),
    get(query('resourceVersion={rv}&resourceVersionMatch=Exact')),
    get(query('resourceVersion=0')),
    get(query('resourceVersion={rv}&resourceVersionMatch=NotOlderThan')),
  ),
  one(
    'with bad versions',
    get(query('resourceVersion=abc'), { status: 400 }),
    get(query('resourceVersionMatch=Exact'), { status: 422 }),
    get(query('resourceVersion=1&resourceVersionMatch=Odd'), { status: 422 }),
    get(query('resourceVersion=0&resourceVersionMatch=Exact'), { status: 422 }),
    get(query('limit=1&continue=x&resourceVersionMatch=NotOlderThan'), { status: 422 }),
  ),
  one(
    'beyond the last version',
    get(query('resourceVersion=999999999&resourceVersionMatch=Exact&timeoutSeconds=1'), {
      status: 504,
      ignore: ['metadata', 'details.retryAfterSeconds'],
    }),
  ),
  one(
    'everywhere',
    create(maps, configMap('a', {}, { labels: { own: '{ns}' } })),
    get('/api/v1/configmaps?labelSelector=own%3D{ns}'),
  ),
  one(
    'custom resources',
    create(custom('widgets'), widget('b')),
    create(custom('widgets'), widget('a')),
    get(custom('widgets')),
    get(`${custom('widgets')}?limit=1`, { save: { next: 'metadata.continue' } }),
    get(`${custom('widgets')}?limit=1&continue={next}`),
    get(`${custom('widgets')}?fieldSelector=metadata.name%3Da`),
  ),
  one(
    'of nothing in a namespace that is not there',
    get('/api/v1/namespaces/{ns}-none/configmaps'),
    get('/api/v1/namespaces/{ns}-none', { status: 404 }),
  ),
  {
    ...one(
      'pods by their fields',
      create(core('pods'), pod('a')),
      create(core('pods'), pod('b', { restartPolicy: 'Never' })),
      get(`${core('pods')}?fieldSelector=spec.restartPolicy%3DNever`),
      get(`${core('pods')}?fieldSelector=status.phase%3DPending,spec.nodeName%3D`, {
        pick: ['items.0.metadata.name', 'items.1.metadata.name'],
      }),
      get(
        `${core('pods')}?fieldSelector=spec.schedulerName%3Dnobody,status.podIP%3D,spec.hostNetwork%3Dfalse,spec.serviceAccountName%3Ddefault`,
        { pick: ['items.0.metadata.name', 'items.1.metadata.name'] },
      ),
    ),
    hasPods: true,
  },
  one(
    'namespaces by name',
    get('/api/v1/namespaces?fieldSelector=metadata.name%3D{ns}', { ignore: ['items.*.metadata.resourceVersion'] }),
    get('/api/v1/namespaces?fieldSelector=status.phase%3DOdd'),
  ),
]

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const accept = (type: string): { readonly headers: { readonly accept: string } } => ({ headers: { accept: type } })

interface Shown {
  readonly path: string
  readonly object: Parameters<typeof create>[1]
  readonly hasPods?: boolean
}
const SHOWN: Readonly<Record<string, Shown>> = {
  'config maps': { path: maps, object: configMap('a', { a: '1', b: '2' }) },
  secrets: { path: secrets, object: secret('a') },
  pods: { path: core('pods'), object: pod('a'), hasPods: true },
  services: {
    path: core('services'),
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: {
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b' },
        ],
      },
    },
  },
  'service accounts': {
    path: core('serviceaccounts'),
    object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } },
  },
  leases: {
    path: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
    object: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'a' },
      spec: { holderIdentity: 'me' },
    },
  },
  roles: {
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles',
    object: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'a' } },
  },
  widgets: { path: custom('widgets'), object: widget('a') },
  notes: {
    path: custom('notes'),
    object: { apiVersion: '{group}/v1', kind: 'Note', metadata: { name: 'a' }, text: 'x' },
  },
}

const FORMS: readonly Case[] = Object.entries(SHOWN).map(([title, { path, object, hasPods = false }]) => ({
  name: `show ${title} as a table and as metadata`,
  hasPods,
  steps: [
    create(path, { ...(object as object), metadata: { name: 'a', labels: { shown: 'yes' } } }),
    get(`${path}/a`, accept(TABLE)),
    get(`${path}?labelSelector=shown`, accept(TABLE)),
    get(`${path}?labelSelector=none`, accept(TABLE)),
    get(`${path}/a`, accept(PARTIAL)),
    get(`${path}?labelSelector=shown`, accept(PARTIAL_LIST)),
  ],
}))

const OTHER_FORMS: readonly Case[] = [
  {
    name: 'show table rows with whole objects and with none',
    steps: [
      create(maps, configMap('a')),
      get(`${maps}/a?includeObject=Object`, accept(TABLE)),
      get(`${maps}/a?includeObject=None`, accept(TABLE)),
      get(`${maps}/a?includeObject=Odd`, { ...accept(TABLE), status: 400 }),
    ],
  },
  {
    name: 'show as it is written',
    steps: [
      create(maps, configMap('a'), accept(PARTIAL)),
      patch(MERGE_PATCH, `${maps}/a`, { data: { b: '2' } }, accept(TABLE)),
      update(`${maps}/a`, configMap('a'), accept(PARTIAL)),
      remove(`${maps}/a`, undefined, accept(PARTIAL)),
    ],
  },
  {
    name: 'show errors as they are',
    steps: [
      get(`${maps}/none`, { ...accept(TABLE), status: 404 }),
      get(`${maps}/none`, { ...accept(PARTIAL), status: 404 }),
    ],
  },
  {
    name: 'show what is asked for first',
    steps: [
      create(maps, configMap('a')),
      get(`${maps}/a`, accept(`${TABLE},application/json`)),
      get(`${maps}/a`, accept('application/xml,application/json;q=0.5')),
      get(`${maps}/a`, accept('*/*')),
      get(`${maps}/a`, { ...accept('application/*'), status: 406 }),
    ],
  },
  {
    name: 'show the wrong list form',
    steps: [
      get(maps, { ...accept(PARTIAL), status: 406 }),
      get(`${maps}/none`, { ...accept(PARTIAL_LIST), status: 404 }),
    ],
  },
  {
    name: 'show in YAML',
    steps: [
      create(maps, configMap('b'), { save: { uid: 'metadata.uid' } }),
      get(`${maps}/none`, { ...accept('application/yaml'), status: 404 }),
    ],
  },
  { name: 'show prettily', steps: [create(maps, configMap('a')), get(`${maps}/a?pretty=true`)] },
  {
    name: 'show in a form that is none',
    steps: [
      get(maps, { ...accept('application/xml'), status: 406 }),
      get(maps, { ...accept('application/json;as=Picture;v=v1;g=meta.k8s.io'), status: 406 }),
      get(maps, { ...accept('text/html'), status: 406 }),
    ],
  },
]

const GETS: readonly Case[] = [
  {
    name: 'get what is not there',
    steps: [
      get(`${maps}/none`, { status: 404 }),
      get(`${custom('widgets')}/none`, { status: 404 }),
      get('/api/v1/namespaces/{ns}-none', { status: 404 }),
      get('/apis/apps/v1/namespaces/{ns}/deployments/none', { status: 404 }),
    ],
  },
  {
    name: 'get at a version',
    steps: [
      create(maps, configMap('a')),
      get(`${maps}/a?resourceVersion=0`),
      get(`${maps}/a?resourceVersion=abc`, { status: 500 }),
    ],
  },
  { name: 'get the namespace', steps: [get('/api/v1/namespaces/{ns}')] },
]

export const readCases: CaseGroup = { name: 'get and list', cases: [...GETS, ...LISTS, ...FORMS, ...OTHER_FORMS] }
