import { type HostileRequest, WIDGETS, many, json, post, widget, items } from './request.ts'

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

/** Schemas with costly patterns and rules, and objects for them. */
export function schemaRequests(): HostileRequest[] {
  return [
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
  ]
}
