import {
  type HostileRequest,
  WIDGETS,
  many,
  json,
  post,
  widget,
  items,
  keys,
  large,
  largest,
  short,
} from './request.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'
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
        CRDS,
        crd(`p${index}`, { properties: { a: { type: 'string', pattern, default: EVIL_TEXT } } }),
      ),
    ),
    post(
      'a schema with a long pattern',
      CRDS,
      crd('long', { properties: { a: { type: 'string', pattern: '(a{1,900}|'.repeat(2_000) + ')'.repeat(2_000) } } }),
    ),
    post('a deep schema', CRDS, crd('deep', deepSchema(2_000))),
    ...large('a wide schema', CRDS, (count) => crd('wide', { properties: keys(count, { type: 'string' }) })),
    ...large('a schema with many patterns', CRDS, (count) =>
      crd('patterns', {
        properties: Object.fromEntries(many(count, (i) => [short(i), { type: 'string', pattern: `^a${i}$` }])),
      }),
    ),
    post(
      'a schema with costly rules',
      CRDS,
      crd('cel', {
        properties: { a: { type: 'array', items: { type: 'string' } } },
        'x-kubernetes-validations': many(200, () => ({
          rule: 'self.a.all(x, self.a.all(y, self.a.all(z, x + y + z != "a")))',
        })),
      }),
    ),
    post(
      'a schema with a long rule',
      CRDS,
      crd('rule', {
        'x-kubernetes-validations': [
          { rule: `${'('.repeat(20_000)}true${')'.repeat(20_000)}` },
          { rule: `1${' + 1'.repeat(100_000)} > 0` },
          { rule: `"${'a'.repeat(100_000)}".matches("^(a+){20}$")` },
        ],
      }),
    ),
    ...large('a schema with a long enumeration', CRDS, (count) =>
      crd('enums', { properties: { a: { type: 'string', enum: many(count, short) } } }),
    ),
    ...large('a schema with many rules', CRDS, (count) =>
      crd('rules', { 'x-kubernetes-validations': many(count, () => ({ rule: 'true' })) }),
    ),
    post('text for a costly pattern', WIDGETS, widget({ text: EVIL_TEXT })),
    post('long text for a costly pattern', WIDGETS, widget({ text: 'a'.repeat(99_999) })),
    ...largest('many items by key', WIDGETS, (count) => widget({ items: items(count, 1) })),
    ...large('many items by key alone', WIDGETS, (count) =>
      widget({ items: many(count, (i) => ({ name: short(i) })) }),
    ),
    ...large('many items without a key', WIDGETS, (count) => widget({ items: many(count, () => ({})) })),
    ...largest('many items of a set', WIDGETS, (count) => widget({ set: many(count, short) })),
    ...large('equal items of a set', WIDGETS, (count) => widget({ set: many(count, () => 's') })),
  ]
}
