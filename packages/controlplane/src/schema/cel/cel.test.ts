import { readFileSync } from 'node:fs'
import path from 'node:path'

import { describe, expect, test } from 'vitest'

import { schemaFromOpenApi } from '../openapi/convert.ts'
import type { FieldError, Schema } from '../types.ts'
import { checkRules } from './check-rules.ts'
import { escapeName } from './escape.ts'
import { blockingError, validateRules } from './validate.ts'

/** The answer of kube-apiserver 1.36.3. */
interface Answer {
  readonly name?: string
  readonly spec: unknown
  readonly old?: unknown
  readonly errors: readonly FieldError[]
}

const { schema, cases } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../testdata/cel-answers.json'), 'utf8'),
) as { readonly schema: unknown; readonly cases: readonly Answer[] }
const converted = schemaFromOpenApi(schema)

const ordered = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, reason, message }) => `${field} ${reason} ${message}`).toSorted()

function ruleOf(spec: unknown): string {
  const [name = ''] = Object.keys(spec as object)
  const property = converted.properties?.['spec']?.properties?.[name]
  return property?.rules?.[0]?.rule ?? name
}

const resource = (spec: unknown, name = 'x'): unknown => ({
  apiVersion: 'schema.dev/v1',
  kind: 'Thingcels',
  metadata: { name },
  spec,
})

describe('CEL rules', () => {
  test.each(
    cases.map((answer): [string, string, Answer] => [ruleOf(answer.spec), JSON.stringify(answer.spec), answer]),
  )('rule %s on %s has the result of kube-apiserver', (_, __, { name, spec, old, errors }) => {
    const found = validateRules(converted, resource(spec, name), old === undefined ? {} : { old: resource(old) })
    expect(ordered(found)).toEqual(ordered(errors))
  })

  test('all recorded rules compile', () => {
    expect(checkRules(converted, 'x')).toEqual([])
  })

  test('rules do not run while the object is otherwise invalid', () => {
    expect(blockingError([])).toBeUndefined()
    expect(blockingError([{ reason: 'FieldValueInvalid', field: 'a', message: 'x' }])).toBeUndefined()
    expect(blockingError([{ reason: 'FieldValueTypeInvalid', field: 'a', message: 'x' }])?.message).toContain(
      'some validation rules were not checked',
    )
  })
})

const withRule = (rule: string, spec: Schema = {}): Schema => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        n: { type: 'integer' },
        list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
        texts: { type: 'array', items: { type: 'string' } },
        t: { type: 'string', format: 'date-time' },
        ...spec.properties,
      },
      rules: [{ rule }],
    },
  },
})

describe('a rule that does not compile', () => {
  // The messages of kube-apiserver, including the column.
  test.each([
    ['self.zz == 1', "ERROR: <input>:1:5: undefined field 'zz'\n | self.zz == 1\n | ....^"],
    ['self.n == "a"', "1:8: found no matching overload for '_==_' applied to '(int, string)'"],
    ['self.n', 'cel expression must evaluate to a bool'],
    ['foo == 1', "1:1: undeclared reference to 'foo' (in container '')"],
    ['self.list.all(x, x.q > 1)', "1:19: undefined field 'q'"],
    ['self.a + 1 == 2', "1:8: found no matching overload for '_+_' applied to '(string, int)'"],
    ['self.n && true', "expected type 'bool' but found 'int'"],
    ['has(self.zz)', "undefined field 'zz'"],
    ['self.a.matches("(")', '1:16: invalid matches argument'],
    ['self.t > 3', "1:8: found no matching overload for '_>_' applied to '(timestamp, int)'"],
    ['size(self.n) > 1', "found no matching overload for 'size' applied to '(int)'"],
    ['self.n == 1.0', "1:8: found no matching overload for '_==_' applied to '(int, double)'"],
    ['[1, "a"] == [1]', "1:5: expected type 'int' but found 'string'"],
    ['1 +', 'Syntax error'],
  ])('the rule %s is rejected', (rule, expected) => {
    const errors = checkRules(withRule(rule), 'root')
    expect(errors.map(({ field }) => field)).toEqual(['root.properties[spec].x-kubernetes-validations[0].rule'])
    expect(errors[0]?.message).toContain(expected)
    expect(errors[0]?.message).toContain(
      `{"Rule":${JSON.stringify(rule).replaceAll('>', '\\u003e').replaceAll('&', '\\u0026')},"Message":""`,
    )
  })

  test('a rule that uses oldSelf where there is none is rejected', () => {
    const items: Schema = { type: 'integer', rules: [{ rule: 'self >= oldSelf' }] }
    const schema: Schema = { type: 'object', properties: { list: { type: 'array', items } } }
    expect(checkRules(schema, 'root')[0]?.message).toBe(
      'Invalid value: "self >= oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within root.properties[list]',
    )
  })
})

function run(rule: string, spec: unknown): { readonly errors: readonly FieldError[]; readonly took: number } {
  const schema = withRule(rule)
  expect(checkRules(schema, 'root')).toEqual([])
  const started = performance.now()
  const errors = validateRules(schema, { spec })
  return { errors, took: performance.now() - started }
}

describe('the cost limits of rules', () => {
  test.each([
    'self.list.all(a, self.list.all(b, self.list.all(c, a.n + b.n + c.n >= 0)))',
    'self.list.map(a, self.list.map(b, self.list.map(c, a.n))).size() > 0',
  ])('the rule %s is stopped at its limit', (rule) => {
    const { errors, took } = run(rule, { list: Array.from({ length: 1000 }, (_, n) => ({ n })) })
    expect(errors).toHaveLength(1)
    expect(errors[0]?.message).toContain('cost exceeds limit')
    expect(took).toBeLessThan(3000)
  })

  test('a rule is stopped before it builds a string that is too large', () => {
    const { errors } = run('self.texts.map(x, self.a).join("").size() > 0', {
      a: 'a'.repeat(1_000_000),
      texts: Array.from({ length: 10_000 }, () => ''),
    })
    expect(errors[0]?.message).toContain('cost exceeds limit')
  })

  test('patterns match in linear time', () => {
    const { errors, took } = run('self.a.matches("^(a+)+$")', { a: `${'a'.repeat(60)}!` })
    expect(errors).toHaveLength(1)
    expect(took).toBeLessThan(1000)
  })

  test.each([
    ['self.a.matches("^([ab]?){300}[ab]*a[ab]{600}[cd]$")', 100_000],
    ['self.a.findAll("a.*c|[ab]").size() == 0', 100_000],
  ])('the work of %s counts in its cost', (rule, length) => {
    const { errors } = run(rule, { a: 'ab'.repeat(length / 2) })
    expect(errors[0]?.message).toContain('cost exceeds limit')
  })

  test('no further rule runs after the limit of the object is reached', () => {
    const rules = Array.from({ length: 5 }, () => ({ rule: 'self.all(x, x >= 0)' }))
    const schema: Schema = { type: 'object', properties: { l: { type: 'array', items: { type: 'integer' }, rules } } }
    const errors = validateRules(schema, { l: Array.from({ length: 100 }, (_, n) => n) }, { limit: 1500 })
    expect(errors.map(({ message }) => message)).toEqual([
      'Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
    ])
  })
})

describe('rules of the items of a long list on an update', () => {
  const entry: Schema = {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: 'integer' } },
    rules: [{ rule: 'self.size >= oldSelf.size', message: 'must not shrink' }],
  }
  const plain: Schema = { ...entry, rules: [{ rule: 'self.size > 40000', message: 'must be large' }] }
  const list = (items: Schema): Schema => ({
    type: 'object',
    properties: { l: { type: 'array', items, ...(items === entry && { listType: 'map', listMapKeys: ['name'] }) } },
  })
  const entries = Array.from({ length: 40_000 }, (_, index) => ({ name: `n${index}`, size: index }))

  test('each item finds its old item by key', () => {
    const shrunk = entries.with(39_999, { name: 'n39999', size: 0 }).toReversed()
    expect(validateRules(list(entry), { l: shrunk }, { old: { l: entries } })).toMatchObject([
      { field: 'l[0]', message: 'Invalid value: must not shrink' },
    ])
  })

  test('a list without keys is compared once, not for each item', () => {
    expect(validateRules(list(plain), { l: entries }, { old: { l: structuredClone(entries) } })).toEqual([])
  })
})

describe('property names in rules', () => {
  test.each([
    ['x-y', 'x__dash__y'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['__proto__', '__underscores__proto__underscores__'],
    ['namespace', '__namespace__'],
    ['plain_1', 'plain_1'],
    ['1a', undefined],
    ['a b', undefined],
  ])('%s is escaped as %s', (name, escaped) => {
    expect(escapeName(name)).toBe(escaped)
  })
})
