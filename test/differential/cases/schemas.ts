/** Definitions of custom resources with valid and invalid schemas, as dry runs. */
import type { Case, CaseGroup, Json, JsonObject } from '../case.ts'
import { definition, version } from '../custom-resource.ts'
import { CRDS, create } from '../steps.ts'

const DRY = `${CRDS}?dryRun=All`

const schema = (title: string, root: JsonObject, status = 201, more: JsonObject = {}): Case => ({
  name: `schema ${title}`,
  steps: [
    create(
      DRY,
      definition({
        plural: 'things',
        kind: 'Thing',
        group: '{ns}.test',
        versions: [version('v1', { type: 'object', ...root }, more)],
      }),
      { status, unordered: true },
    ),
  ],
})
const spec = (properties: Json, more: JsonObject = {}): JsonObject => ({
  properties: { spec: { type: 'object', properties, ...more } },
})
const rule = (type: JsonObject, ...rules: readonly string[]): JsonObject =>
  spec({ f: { ...type, 'x-kubernetes-validations': rules.map((text) => ({ rule: text })) } })

export const schemaCases: CaseGroup = {
  name: 'schemas',
  cases: [
    schema('whose root is not an object', { type: 'string' }, 422),
    schema('with properties and no type', { properties: { spec: { properties: {} } } }, 422),
    schema('with a list of items', spec({ f: { type: 'array', items: [{ type: 'string' }] } }), 422),
    schema('with a list of nothing', spec({ f: { type: 'array' } }), 422),
    schema('with a reference', spec({ f: { $ref: '#/x' } }), 422),
    schema('with uniqueItems', spec({ f: { type: 'array', uniqueItems: true, items: { type: 'string' } } }), 422),
    schema(
      'with properties and additional ones',
      spec({ f: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } } }),
      422,
    ),
    schema('without additional properties', spec({ f: { type: 'object', additionalProperties: false } }), 201),
    schema('with a default of another type', spec({ f: { type: 'integer', default: 'x' } }), 422),
    schema('with a default out of range', spec({ f: { type: 'integer', default: 5, maximum: 3 } }), 422),
    schema(
      'with unknown fields in a default',
      spec({ f: { type: 'object', default: { a: 1 }, properties: { b: { type: 'string' } } } }),
      422,
    ),
    schema('with a broken pattern', spec({ f: { type: 'string', pattern: '(' } }), 422),
    schema('with a pattern that looks ahead', spec({ f: { type: 'string', pattern: '(?=a)' } }), 422),
    schema(
      'with keys that may be absent',
      spec({
        f: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
          items: { type: 'object', properties: { a: { type: 'string' } } },
        },
      }),
      422,
    ),
    schema(
      'with a map without keys',
      spec({
        f: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          items: { type: 'object', properties: { a: { type: 'string' } } },
        },
      }),
      422,
    ),
    schema(
      'with set of objects',
      spec({
        f: {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'object', properties: { a: { type: 'string' } } },
        },
      }),
      422,
    ),
    schema(
      'with an odd type of list',
      spec({ f: { type: 'array', 'x-kubernetes-list-type': 'odd', items: { type: 'string' } } }),
      422,
    ),
    schema('with an odd type of map', spec({ f: { type: 'object', 'x-kubernetes-map-type': 'odd' } }), 422),
    schema(
      'with a type beside int-or-string',
      spec({ f: { type: 'integer', 'x-kubernetes-int-or-string': true } }),
      201,
    ),
    schema('with an embedded text', spec({ f: { type: 'string', 'x-kubernetes-embedded-resource': true } }), 422),
    schema('with types in alternatives', spec({ f: { type: 'string', oneOf: [{ type: 'string' }] } }), 422),
    schema(
      'that restricts labels',
      { properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
      422,
    ),
    schema(
      'that restricts names',
      { properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } } },
      201,
    ),
    schema('that keeps everything', { 'x-kubernetes-preserve-unknown-fields': true }, 201),
    schema('with nullable default', spec({ f: { type: 'string', nullable: true, default: null } }), 201),
    schema('with null default', spec({ f: { type: 'string', default: null } }), 201),
    schema('with enum type', spec({ f: { type: 'integer', enum: ['a'] } }), 201),
    schema('with a rule of two types', rule({ type: 'integer' }, 'self == "a"'), 422),
    schema('with a rule that is not a condition', rule({ type: 'integer' }, 'self + 1'), 422),
    schema(
      'with a rule of nothing',
      spec({ a: { type: 'string' } }, { 'x-kubernetes-validations': [{ rule: 'self.b == 1' }] }),
      422,
    ),
    schema(
      'with a rule about the past of a list',
      spec({
        f: { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
      }),
      422,
    ),
    schema('with an empty rule', rule({ type: 'integer' }, '  '), 422),
    schema(
      'with a message in two lines',
      spec({ f: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }] } }),
      422,
    ),
    schema(
      'with a rule in two lines',
      spec({ f: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0 &&\nself < 5' }] } }),
      422,
    ),
    schema(
      'with a number for a message',
      spec({ f: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', messageExpression: '5' }] } }),
      422,
    ),
    schema(
      'with an odd reason',
      spec({ f: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', reason: 'Odd' }] } }),
      422,
    ),
    schema(
      'with a path to nothing',
      spec({
        f: {
          type: 'object',
          properties: { a: { type: 'string' } },
          'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
        },
      }),
      422,
    ),
    schema(
      'with a rule about a past that may not be',
      spec({
        f: {
          type: 'integer',
          'x-kubernetes-validations': [{ rule: 'oldSelf.hasValue() || self > 1', optionalOldSelf: true }],
        },
      }),
      201,
    ),
    schema('with odd columns', spec({}), 422, {
      additionalPrinterColumns: [
        { name: 'A', type: 'odd', jsonPath: '.a' },
        { name: '', type: 'string', jsonPath: 'x' },
      ],
    }),
    schema('with a scale outside of the spec', spec({}), 422, {
      subresources: { scale: { specReplicasPath: '.replicas', statusReplicasPath: '.status.a' } },
    }),
    schema('with a scale in a list', spec({}), 201, {
      subresources: { scale: { specReplicasPath: '.spec.a[0]', statusReplicasPath: '.status.a' } },
    }),
    schema('with fields that cannot be selected', spec({ a: { type: 'array', items: { type: 'string' } } }), 422, {
      selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.none' }],
    }),
    schema('with deprecated', spec({}), 201, { deprecated: true, deprecationWarning: 'old' }),
    schema('with a warning that it is not deprecated', spec({}), 422, { deprecationWarning: 'old' }),
  ],
}
