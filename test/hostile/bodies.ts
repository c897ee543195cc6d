import type { Random } from '@tenure/kube'

/** A request without its server and credentials. */
export interface HostileRequest {
  readonly name: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly type: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Just below the limit of a body, so that it is not refused for its size. */
const MAX_BYTES = 3_000_000
const MAPS = '/api/v1/namespaces/hostile/configmaps'
const CORE = '/api/v1/namespaces/hostile'
const WIDGETS = '/apis/hostile.example.dev/v1/namespaces/hostile/widgets'
export const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'
const APPLY = 'application/apply-patch+yaml'
const JSON_PATCH = 'application/json-patch+json'
const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const keys = (count: number, value: unknown = ''): Record<string, unknown> =>
  Object.fromEntries(many(count, (index) => [`k${index}`, value]))
const json = (value: unknown): string => JSON.stringify(value)
let names = 0
/** A refused name must not make the next request a conflict. */
const unique = (): string => `hostile-${++names}`
const object = (kind: string, name: string, rest: object, apiVersion = 'v1'): string =>
  json({ apiVersion, kind, metadata: { name }, ...rest })
const post = (name: string, path: string, body: string | Buffer, type = JSON_TYPE): HostileRequest => ({
  name,
  method: 'POST',
  path,
  type,
  body,
})
const patch = (name: string, path: string, type: string, body: string): HostileRequest => ({
  name,
  method: 'PATCH',
  path,
  type,
  body,
})

/** As many repetitions of a text as fit. */
const filled = (start: string, part: string, end: string): string =>
  start + part.repeat(Math.floor((MAX_BYTES - start.length - end.length) / part.length)) + end

const EVIL_PATTERNS = ['^(a+){20}$', '^(a|a)*$', String.raw`^(\p{L}+)+$`, '(?m)^(a+)+$', '^(a?){500}a{500}$', 'a{1000}']
const EVIL_TEXT = `${'a'.repeat(60)}!`

function deepSchema(depth: number): object {
  let schema: object = { type: 'string' }
  for (let level = 0; level < depth; level++) schema = { type: 'object', properties: { a: schema } }
  return schema
}

function crd(name: string, schema: object): string {
  return json({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.hostile.example.dev` },
    spec: {
      group: 'hostile.example.dev',
      names: { plural: name, kind: name.charAt(0).toUpperCase() + name.slice(1) },
      scope: 'Namespaced',
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', ...schema } } },
      ],
    },
  })
}

/** A kind with patterns, rules and lists by key, for hostile objects. */
export const WIDGET_CRD = crd('widgets', {
  properties: {
    text: { type: 'string', maxLength: 100_000, pattern: '^(a+){20}$' },
    items: {
      type: 'array',
      maxItems: 100_000,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', maxLength: 20 }, size: { type: 'integer' } },
        'x-kubernetes-validations': [{ rule: '!has(self.size) || self.size >= oldSelf.size', optionalOldSelf: false }],
      },
    },
    set: {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'string' },
    },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
})

const widget = (rest: object): string => object('Widgets', unique(), rest, 'hostile.example.dev/v1')
const items = (count: number, size: number): object[] => many(count, (index) => ({ name: `i${index}`, size }))
const container = (rest: object): object => ({ containers: [{ name: 'c', image: 'i', ...rest }] })
const deployment = (spec: object): string =>
  json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: unique() },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec } },
  })

/** Every known way to make work grow faster than the request, and to end the process. */
export function directedRequests(): HostileRequest[] {
  const longKey = 'k'.repeat(500_000)
  return [
    post('duplicate keys under a long key', MAPS, filled(`{"${longKey}":{`, '"a":1,', '"a":1}}')),
    post(
      'unknown fields under a long key',
      `${MAPS}?fieldValidation=Strict`,
      filled(
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","annotations":{"${longKey}":"a"}},"x":{`,
        '"a":{},',
        '"b":1}}',
      ),
    ),
    post(
      'many unknown fields',
      `${CORE}/pods?fieldValidation=Warn`,
      object('Pod', unique(), { spec: { containers: many(20_000, () => ({ name: 'c', unknown: 1, other: 2 })) } }),
    ),
    post('many keys', MAPS, object('ConfigMap', unique(), { data: keys(80_000) })),
    post(
      'many invalid keys',
      MAPS,
      object('ConfigMap', unique(), { data: Object.fromEntries(many(50_000, (i) => [`/${i}`, ''])) }),
    ),
    post(
      'many invalid annotations',
      MAPS,
      json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: unique(), annotations: keys(100_000, 'a') } }),
    ),
    post(
      'many invalid labels',
      MAPS,
      json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: unique(), labels: keys(100_000, '/') } }),
    ),
    post(
      'many owners',
      MAPS,
      json({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: unique(),
          ownerReferences: many(10_000, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })),
        },
      }),
    ),
    post(
      'many finalizers',
      MAPS,
      json({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: unique(), finalizers: many(100_000, (i) => `e.dev/${i}`) },
      }),
    ),
    post(
      'many managed fields',
      MAPS,
      json({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: {
          name: unique(),
          managedFields: many(20_000, (i) => ({
            manager: `m${i}`,
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': {} },
          })),
        },
      }),
    ),
    post('deep objects', MAPS, `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
    post(
      'deep lists',
      WIDGETS,
      `{"kind":"Widgets","apiVersion":"hostile.example.dev/v1","metadata":{"name":"w"},"any":{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}}`,
    ),
    post(
      'a prototype',
      MAPS,
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"proto"},"__proto__":{"polluted":"1"},"data":{"__proto__":"x","constructor":"y"}}',
    ),
    post('a long string', MAPS, filled('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"', 'a', '"}}')),
    post(
      'escaped text',
      MAPS,
      filled(
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"e"},"data":{"a":"',
        String.raw`\u0000\n`,
        '"}}',
      ),
    ),
    post('an unfinished document', MAPS, filled('{"a":[', '{"a":', '')),
    post('long numbers', MAPS, filled('{"a":', '9', '}')),
    post(
      'many containers',
      '/apis/apps/v1/namespaces/hostile/deployments?dryRun=All',
      deployment({ containers: many(20_000, (i) => ({ name: `c${i}`, image: 'i' })) }),
    ),
    post(
      'many environment variables',
      '/apis/apps/v1/namespaces/hostile/deployments?dryRun=All',
      deployment(container({ env: many(30_000, (i) => ({ name: `E${i}`, value: '$(A)$(B)' })) })),
    ),
    post(
      'many ports',
      `${CORE}/services`,
      object('Service', unique(), {
        spec: { ports: many(25_000, (i) => ({ name: `p${i}`, port: (i % 65_000) + 1 })) },
      }),
    ),
    post(
      'many volumes and mounts',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: {
          ...container({ volumeMounts: many(10_000, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }),
          volumes: many(10_000, (i) => ({ name: `v${i}`, emptyDir: {} })),
        },
      }),
    ),
    post(
      'many tolerations',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: { ...container({}), tolerations: many(60_000, (i) => ({ key: `k${i}`, operator: 'Exists' })) },
      }),
    ),
    post(
      'many host aliases',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: { ...container({}), hostAliases: many(60_000, (i) => ({ ip: `10.0.0.${i % 250}`, hostnames: ['a'] })) },
      }),
    ),
    post(
      'a selector with many expressions',
      '/apis/apps/v1/namespaces/hostile/deployments',
      json({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: unique() },
        spec: {
          selector: {
            matchExpressions: many(30_000, (i) => ({ key: `k${i}`, operator: 'NotIn', values: ['a', 'b'] })),
          },
          template: { metadata: { labels: { a: 'b' } }, spec: container({}) },
        },
      }),
    ),
    post(
      'a network policy with many rules',
      '/apis/networking.k8s.io/v1/namespaces/hostile/networkpolicies',
      json({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'n' },
        spec: { podSelector: {}, ingress: many(20_000, () => ({ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] })) },
      }),
    ),
    // More errors than the arguments that a stack holds.
    post(
      'a network policy with many invalid exceptions',
      '/apis/networking.k8s.io/v1/namespaces/hostile/networkpolicies',
      object(
        'NetworkPolicy',
        unique(),
        {
          spec: {
            podSelector: {},
            ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: many(300_000, () => 'x') } }] }],
          },
        },
        'networking.k8s.io/v1',
      ),
    ),
    post(
      'an ingress with many invalid hosts',
      '/apis/networking.k8s.io/v1/namespaces/hostile/ingresses',
      object('Ingress', unique(), { spec: { tls: [{ hosts: many(300_000, () => '/') }] } }, 'networking.k8s.io/v1'),
    ),
    post(
      'many invalid items of a volume',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: {
          ...container({}),
          volumes: [{ name: 'v', configMap: { name: 'c', items: many(200_000, () => ({})) } }],
        },
      }),
    ),
    post(
      'many invalid name servers',
      `${CORE}/pods`,
      object('Pod', unique(), { spec: { ...container({}), dnsConfig: { nameservers: many(200_000, () => 'x') } } }),
    ),
    post(
      'many invalid source ranges',
      `${CORE}/services`,
      object('Service', unique(), {
        spec: { type: 'LoadBalancer', ports: [{ port: 1 }], loadBalancerSourceRanges: many(200_000, () => 'x') },
      }),
    ),
    post(
      'a volume with many invalid access modes',
      '/api/v1/persistentvolumes',
      object('PersistentVolume', unique(), {
        spec: { capacity: { storage: '1Gi' }, accessModes: many(300_000, () => 'x'), hostPath: { path: '/a' } },
      }),
    ),
    post(
      'a schema with many invalid short names',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      object(
        'CustomResourceDefinition',
        'a.hostile.example.dev',
        {
          spec: {
            group: 'hostile.example.dev',
            names: { plural: 'a', kind: 'A', shortNames: many(300_000, () => '/') },
            scope: 'Namespaced',
            versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
          },
        },
        'apiextensions.k8s.io/v1',
      ),
    ),
    post(
      'a webhook with many invalid versions',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object(
        'ValidatingWebhookConfiguration',
        unique(),
        {
          webhooks: [
            {
              name: 'a.example.dev',
              clientConfig: { url: 'https://a' },
              sideEffects: 'None',
              admissionReviewVersions: many(300_000, () => '/'),
            },
          ],
        },
        'admissionregistration.k8s.io/v1',
      ),
    ),
    post(
      'quantities with long digits',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: container({ resources: { limits: { cpu: '9'.repeat(500_000), memory: `1e${'9'.repeat(300_000)}` } } }),
      }),
    ),
    post(
      'quantities with long fractions',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: container({ resources: { limits: { cpu: `0.${'9'.repeat(2_900_000)}` } } }),
      }),
    ),
    post(
      'a Role with hundreds of groups, resources and verbs in one rule',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/roles',
      json({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r1' },
        rules: [
          {
            apiGroups: many(250, (i) => `g${i}`),
            resources: many(250, (i) => `r${i}`),
            verbs: many(250, (i) => `v${i}`),
          },
        ],
      }),
    ),
    post(
      'a Role of 20,000 rules',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/roles',
      json({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r2' },
        rules: many(20_000, (i) => ({ apiGroups: [`g${i}`], resources: ['*'], verbs: ['get', 'escalate'] })),
      }),
    ),
    post(
      'a binding of 30,000 subjects',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/hostile/rolebindings',
      json({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: many(30_000, (i) => ({ kind: 'User', name: `u${i}`, apiGroup: 'rbac.authorization.k8s.io' })),
      }),
    ),
    ...EVIL_PATTERNS.map((pattern, index) =>
      post(
        `a schema with the pattern ${pattern}`,
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
        crd(`p${index}`, { properties: { a: { type: 'string', pattern, default: EVIL_TEXT } } }),
      ),
    ),
    post(
      'a schema with a long pattern',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      crd('long', { properties: { a: { type: 'string', pattern: '(a{1,900}|'.repeat(2_000) + ')'.repeat(2_000) } } }),
    ),
    post(
      'a deep schema',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      crd('deep', deepSchema(2_000)),
    ),
    post(
      'a wide schema',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      crd('wide', {
        properties: Object.fromEntries(many(30_000, (i) => [`p${i}`, { type: 'string', pattern: `^a${i}$` }])),
      }),
    ),
    post(
      'a schema with costly rules',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      crd('cel', {
        properties: { a: { type: 'array', items: { type: 'string' } } },
        'x-kubernetes-validations': many(200, () => ({
          rule: 'self.a.all(x, self.a.all(y, self.a.all(z, x + y + z != "a")))',
        })),
      }),
    ),
    post(
      'a schema with a long rule',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      crd('rule', {
        'x-kubernetes-validations': [
          { rule: `${'('.repeat(20_000)}true${')'.repeat(20_000)}` },
          { rule: `1${' + 1'.repeat(100_000)} > 0` },
          { rule: `"${'a'.repeat(100_000)}".matches("^(a+){20}$")` },
        ],
      }),
    ),
    post(
      'a schema with a long enumeration',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      crd('enums', { properties: { a: { type: 'string', enum: many(100_000, (i) => `e${i}`) } } }),
    ),
    post('text for a costly pattern', WIDGETS, widget({ text: EVIL_TEXT })),
    post('long text for a costly pattern', WIDGETS, widget({ text: 'a'.repeat(99_999) })),
    post('many items by key', WIDGETS, widget({ items: items(40_000, 1) })),
    post('many items of a set', WIDGETS, widget({ set: many(80_000, (i) => `s${i}`) })),
    post('equal items of a set', WIDGETS, widget({ set: many(200_000, () => 's') })),
    {
      name: 'an update of many items with rules',
      method: 'PUT',
      path: `${WIDGETS}/stored`,
      type: JSON_TYPE,
      body: object('Widgets', 'stored', { items: items(40_000, 2) }, 'hostile.example.dev/v1'),
    },
    patch(
      'an apply of many items',
      `${WIDGETS}/stored?fieldManager=a&force=true&dryRun=All`,
      APPLY,
      object('Widgets', 'stored', { items: items(20_000, 3) }, 'hostile.example.dev/v1'),
    ),
    patch(
      'a JSON patch of many additions',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(40_000, (i) => ({ op: 'add', path: `/data/n${i}`, value: '' }))),
    ),
    patch(
      'a JSON patch of many list insertions',
      `${WIDGETS}/stored`,
      JSON_PATCH,
      json(many(40_000, (i) => ({ op: 'add', path: '/items/0', value: { name: `n${i}` } }))),
    ),
    patch(
      'a JSON patch that doubles its object',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(60, (i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` }))),
    ),
    patch(
      'a JSON patch that doubles a part',
      `${WIDGETS}/stored`,
      JSON_PATCH,
      json(many(40, (i) => ({ op: 'copy', from: '/any', path: `/any/c${i}` }))),
    ),
    patch(
      'a JSON patch of many tests',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(30_000, () => ({ op: 'test', path: '/data', value: {} }))),
    ),
    patch(
      'a JSON patch of deep paths',
      `${MAPS}/stored`,
      JSON_PATCH,
      json(many(10, () => ({ op: 'add', path: '/a'.repeat(100_000), value: 1 }))),
    ),
    patch('a merge patch of many keys', `${MAPS}/stored?dryRun=All`, MERGE, json({ data: keys(200_000, null) })),
    patch('a deep merge patch', `${MAPS}/stored`, MERGE, `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
    patch(
      'a strategic merge of many items',
      '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All',
      STRATEGIC,
      json({
        spec: {
          template: {
            spec: { containers: [{ name: 'c', env: many(30_000, (i) => ({ name: `N${i}`, value: 'x' })) }] },
          },
        },
      }),
    ),
    patch(
      'a strategic merge of many deletions',
      '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All',
      STRATEGIC,
      json({
        spec: {
          template: {
            spec: { containers: [{ name: 'c', env: many(50_000, (i) => ({ name: `E${i}`, $patch: 'delete' })) }] },
          },
        },
      }),
    ),
    patch(
      'a strategic merge with a long order',
      '/apis/apps/v1/namespaces/hostile/deployments/stored?dryRun=All',
      STRATEGIC,
      json({
        spec: {
          template: {
            spec: {
              containers: [{ name: 'c', '$setElementOrder/env': many(60_000, (i) => ({ name: `E${i}` })), env: [] }],
            },
          },
        },
      }),
    ),
    patch(
      'a strategic merge of finalizers',
      `${MAPS}/stored?dryRun=All`,
      STRATEGIC,
      json({
        metadata: {
          finalizers: many(60_000, (i) => `e.dev/f${i}`),
          '$deleteFromPrimitiveList/finalizers': many(20_000, (i) => `e.dev/g${i}`),
        },
      }),
    ),
    patch(
      'YAML aliases that multiply',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      `a: &a [x,x,x,x,x,x,x,x,x]\n${many(12, (i) => `${'bcdefghijklm'[i]}: &${'bcdefghijklm'[i]} [${many(9, () => `*${'abcdefghijkl'[i]}`).join(',')}]\n`).join('')}`,
    ),
    patch(
      'YAML aliases as keys',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      filled(`x: &k ${'k'.repeat(1_000)}\ny:\n`, '  ? *k\n  : 1\n', ''),
    ),
    patch('YAML duplicate keys', `${MAPS}/new?fieldManager=a`, APPLY, filled('data:\n', '  a: 1\n', '')),
    patch('YAML with long flow mappings', `${MAPS}/new?fieldManager=a`, APPLY, filled('data: {', 'a: b, ', '}\n')),
    patch('YAML with deep flow lists', `${MAPS}/new?fieldManager=a`, APPLY, '['.repeat(1_000_000)),
    patch(
      'YAML with deep blocks',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      many(1_700, (i) => `${' '.repeat(i)}a:\n`).join(''),
    ),
    patch('YAML with many lists', `${MAPS}/new?fieldManager=a`, APPLY, filled('', '- ', 'a\n')),
    patch(
      'YAML with many anchors',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      many(100_000, (i) => `a${i}: &a${i} x\n`).join(''),
    ),
    patch(
      'YAML with many merges',
      `${MAPS}/new?fieldManager=a`,
      APPLY,
      `a: &a {${many(5_000, (i) => `k${i}: 1`).join(', ')}}\n${many(2_000, (i) => `b${i}: {<<: *a}\n`).join('')}`,
    ),
    post(
      'YAML with block scalars',
      MAPS,
      filled('kind: ConfigMap\napiVersion: v1\nmetadata: {name: y}\ndata:\n  a: |\n', '    x\n', ''),
      YAML_TYPE,
    ),
    post('YAML with long quoted text', MAPS, filled('a: "', String.raw`\x41\u0042 `, '"\n'), YAML_TYPE),
    post('YAML with comments', MAPS, filled('', '# a\n', 'a: 1\n'), YAML_TYPE),
    post('YAML with directives', MAPS, filled('', '%YAML 1.1\n', '--- a\n'), YAML_TYPE),
    post(
      'protobuf with many small fields',
      `${CORE}/configmaps?dryRun=All`,
      protobuf('v1', 'ConfigMap', Buffer.alloc(MAX_BYTES - 100, Buffer.from([0x12, 4, 0x0a, 2, 0x61, 0x62]))),
      PROTOBUF,
    ),
    post(
      'protobuf with many empty messages',
      `${CORE}/pods?dryRun=All`,
      protobuf('v1', 'Pod', Buffer.concat([lengthed(0x12, Buffer.alloc(2_900_000, Buffer.from([0x12, 0])))])),
      PROTOBUF,
    ),
    post(
      'deep protobuf',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      protobuf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', nested(30_000)),
      PROTOBUF,
    ),
    post(
      'protobuf of unknown fields',
      `${CORE}/configmaps?dryRun=All`,
      protobuf('v1', 'ConfigMap', Buffer.alloc(2_900_000, Buffer.from([0xf8, 0xff, 0xff, 0xff, 0x0f, 1]))),
      PROTOBUF,
    ),
    post(
      'truncated protobuf',
      `${CORE}/pods`,
      protobuf('v1', 'Pod', Buffer.from([0x12, 0xff, 0xff, 0xff, 0x7f])),
      PROTOBUF,
    ),
    post(
      'a review with many groups',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      json({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'u',
          groups: many(200_000, (i) => `g${i}`),
          resourceAttributes: { verb: 'get', resource: 'pods' },
        },
      }),
    ),
    post(
      'a review with a large extra',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      json({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: 'u', extra: keys(50_000, ['a']), resourceAttributes: { verb: 'get', resource: 'pods' } },
      }),
    ),
    post(
      'a review of a long token',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      json({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: `${'a'.repeat(1_000_000)}.${'b'.repeat(1_000_000)}.c` },
      }),
    ),
    post(
      'a token for many audiences',
      `${CORE}/serviceaccounts/default/token`,
      json({ spec: { audiences: many(100_000, (i) => `a${i}`) } }),
    ),
    {
      name: 'delete options with many conditions',
      method: 'DELETE',
      path: `${MAPS}/none`,
      type: JSON_TYPE,
      body: filled('{"preconditions":{', '"uid":"a",', '"uid":"b"}}'),
    },
    {
      name: 'a list with many label terms',
      method: 'GET',
      path: `${MAPS}?labelSelector=${many(1_500, (i) => `k${i}!%3Da`).join(',')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with a long set of values',
      method: 'GET',
      path: `${MAPS}?labelSelector=${encodeURIComponent(`a in (${many(3_000, (i) => `v${i}`).join(',')})`)}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with many field terms',
      method: 'GET',
      path: `${MAPS}?fieldSelector=${many(600, () => 'metadata.name%21%3Da').join(',')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with a forged continue token',
      method: 'GET',
      path: `${MAPS}?limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1e300,"start":"a"}').toString('base64url')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'a list with a long Accept header',
      method: 'GET',
      path: MAPS,
      type: JSON_TYPE,
      body: '',
      headers: { accept: many(1_500, (i) => `application/json;as=T${i};q=0.1`).join(',') },
    },
    {
      name: 'many impersonated groups',
      method: 'GET',
      path: MAPS,
      type: JSON_TYPE,
      body: '',
      headers: { 'impersonate-user': 'u', 'impersonate-group': many(5_000, (i) => `g${i}`).join(',') },
    },
  ]
}

/** Requests to the operators' HTTP API. */
export function operatorRequests(applications: string): HostileRequest[] {
  const app = (spec: object): string =>
    json({ metadata: { name: 'app' }, spec: { image: 'nginx', replicas: 1, ...spec } })
  const deep = `{"spec":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`
  return [
    post('an Application of deep lists', applications, deep),
    post(
      'an Application with many keys',
      applications,
      json({ metadata: { name: 'app', labels: keys(200_000, '/') }, spec: keys(50_000) }),
    ),
    post('an Application with a prototype', applications, '{"metadata":{"name":"app"},"spec":{"__proto__":{"a":1}}}'),
    post('an Application with a long image', applications, app({ image: `a${'/a'.repeat(1_000_000)}:!` })),
    post(
      'an Application with many environment variables',
      applications,
      app({ env: many(60_000, (i) => ({ name: `E${i}`, value: 'x' })) }),
    ),
    post(
      'an Application with many ports',
      applications,
      app({ ports: many(60_000, (i) => ({ port: i })), port: 1e300 }),
    ),
    {
      name: 'a list with a long query',
      method: 'GET',
      path: `${applications}?${many(1_000, (i) => `labelSelector=a${i}`).join('&')}`,
      type: JSON_TYPE,
      body: '',
    },
    {
      name: 'events with a long query',
      method: 'GET',
      path: `/events?limit=${'9'.repeat(10_000)}`,
      type: JSON_TYPE,
      body: '',
    },
  ]
}

const varint = (value: number): number[] => {
  const bytes: number[] = []
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return [...bytes, value]
}
const lengthed = (tag: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([tag, ...varint(bytes.length)]), bytes])

function protobuf(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const meta = Buffer.concat([lengthed(0x0a, Buffer.from(apiVersion)), lengthed(0x12, Buffer.from(kind))])
  return Buffer.concat([Buffer.from('k8s\0'), lengthed(0x0a, meta), lengthed(0x12, raw)])
}

/** Messages in messages, each with a length. */
function nested(depth: number): Buffer {
  const parts: Buffer[] = []
  let length = 0
  for (let level = 0; level < depth; level++) {
    const head = Buffer.from([0x12, ...varint(length)])
    parts.push(head)
    length += head.length
  }
  return Buffer.concat(parts.toReversed())
}

const TYPES = [JSON_TYPE, YAML_TYPE, APPLY, JSON_PATCH, MERGE, STRATEGIC, PROTOBUF]
const WORDS = [
  'metadata',
  'name',
  'spec',
  'status',
  'data',
  'labels',
  'kind',
  'apiVersion',
  '__proto__',
  'constructor',
  '',
  'items',
  'rules',
  'a',
]

/** A random value with about `size` parts. */
function randomValue(random: Random, size: number, depth = 0): unknown {
  const chosen = random.fraction()
  if (size <= 1 || depth > 40) {
    return [null, true, -1, 1e308, '', 'a'.repeat(Math.floor(random.fraction() * 300)), '\u2028', [], {}][
      Math.floor(chosen * 9)
    ]
  }
  const count = Math.max(1, Math.floor(random.fraction() * Math.min(size, 50)))
  const parts = many(count, () => randomValue(random, size / count, depth + 1))
  if (chosen < 0.4) return parts
  return Object.fromEntries(parts.map((part, index) => [pick(random, WORDS) || `k${index}`, part]))
}

/** A random body and content type for any route. */
export function randomBody(random: Random): Pick<HostileRequest, 'type' | 'body'> {
  const type = pick(random, TYPES) ?? JSON_TYPE
  const kind = random.fraction()
  if (kind < 0.1) return { type, body: Buffer.from(random.bytes(1 + Math.floor(random.fraction() * 5_000))) }
  const text = type === JSON_PATCH ? randomPatch(random) : json(randomValue(random, 2 ** (random.fraction() * 13)))
  const length = kind < 0.2 ? Math.floor(random.fraction() * text.length) : MAX_BYTES
  return { type, body: text.slice(0, length) }
}

function randomPatch(random: Random): string {
  const path = (): string => `/${pick(random, WORDS)}/${Math.floor(random.fraction() * 3)}`
  const operation = (): object => ({
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
    path: path(),
    from: path(),
    value: randomValue(random, 8),
  })
  return json(many(1 + Math.floor(random.fraction() * 500), operation))
}

function pick<T>(random: Random, from: readonly T[]): T | undefined {
  return from[Math.floor(random.fraction() * from.length)]
}
