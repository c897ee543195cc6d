import { readFileSync } from 'node:fs'
import path from 'node:path'

import { describe, expect, test } from 'vitest'

import { schemaFromOpenApi } from '../openapi/convert.ts'
import type { FieldError } from '../types.ts'
import type { Processed } from './process.ts'
import { process } from './process.ts'

/** The answer of kube-apiserver 1.36.3 to an object. */
interface Answer {
  readonly spec?: unknown
  readonly object?: Readonly<Record<string, unknown>>
  readonly code: number
  readonly stored?: unknown
  readonly errors?: readonly FieldError[]
  readonly message?: string
  readonly unknown?: readonly string[]
}

const { schema, cases } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../testdata/custom-resource-answers.json'), 'utf8'),
) as { readonly schema: unknown; readonly cases: readonly Answer[] }

const converted = schemaFromOpenApi(schema)
const noRefs = (ref: string): never => {
  throw new Error(`Unexpected reference ${ref}`)
}
const run = (value: unknown, old?: unknown): Processed =>
  process(converted, noRefs, value, { default: true, prune: true, ...(old !== undefined && { old }) })
const resource = (spec: unknown): Readonly<Record<string, unknown>> => ({
  apiVersion: 'schema.dev/v1',
  kind: 'Thingtables',
  metadata: { name: 'x' },
  spec,
})
/** kube-apiserver iterates over maps in random order. */
const ordered = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, reason, message }) => `${field} ${reason} ${message}`).toSorted()

/** The result in the form of the recorded answer. */
function summary({ undecodable, errors, object, unknown }: Processed, { object: whole }: Answer): unknown {
  const code = undecodable !== undefined ? 400 : errors.length > 0 ? 422 : 201
  const stored = whole ? object : (object as { readonly spec?: unknown }).spec
  return {
    code,
    errors: code === 422 ? ordered(errors) : [],
    stored: code === 201 ? stored : undefined,
    unknown: code === 201 ? unknown : undefined,
    message:
      undecodable === undefined
        ? undefined
        : `Thingtables in version "v1" cannot be handled as a Thingtables: ${undecodable}`,
  }
}

describe('a custom resource', () => {
  test.each(cases.map((answer): [string, Answer] => [JSON.stringify(answer.spec ?? answer.object), answer]))(
    '%s is answered as by kube-apiserver',
    (_, answer) => {
      const value = answer.object
        ? { apiVersion: 'schema.dev/v1', kind: 'Thingtables', ...answer.object }
        : resource(answer.spec)
      expect(summary(run(value), answer)).toEqual({
        code: answer.code,
        errors: ordered(answer.errors ?? []),
        stored: answer.stored,
        unknown: answer.code === 201 ? (answer.unknown ?? []) : undefined,
        message: answer.message,
      })
    },
  )

  test('a resource that needs no change is returned itself', () => {
    const value = resource({ str: 'x', defs: { a: 'x', m: 4, n: 3, q: { r: 1, s: 't' } } })
    const result = run(value)
    expect(result.object).toBe(value)
    expect(result.errors).toEqual([])
  })

  test('the given resource is never modified', () => {
    const value = resource(JSON.parse('{"unknown":1,"defs":{"o":{}},"obj":{"a":"x","zz":1},"__proto__":{"a":1}}'))
    const before = JSON.stringify(value)
    run(value)
    expect(JSON.stringify(value)).toBe(before)
  })

  test('__proto__ is a plain field name', () => {
    const value = resource(JSON.parse('{"map":{"__proto__":{"x":"a","zz":1}},"__proto__":{"polluted":1},"str":null}'))
    const result = run(value)
    expect(JSON.stringify((result.object as { spec: { map: unknown } }).spec.map)).toBe('{"__proto__":{"x":"a"}}')
    expect(result.unknown).toEqual(['spec.__proto__', 'spec.map.__proto__.zz'])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('errors of unchanged values are not reported', () => {
    const old = resource({ int: 'x', obj: { a: 1 }, set: ['a', 'a'], lmap: [{ name: 'a', v: 'x' }, { name: 'b' }] })
    expect(run({ ...old, status: { x: 1 } }, old).errors).toEqual([])
    const changed = resource({
      int: 'y',
      obj: { a: 1, b: 2 },
      set: ['a', 'a', 'b'],
      lmap: [{ name: 'b' }, { name: 'a', v: 'x' }],
    })
    expect(run(changed, old).errors.map(({ field }) => field)).toEqual(['spec.int'])
  })

  test('excessive nesting is rejected without a stack overflow', () => {
    let deep: unknown = {}
    for (let level = 0; level < 100_000; level += 1) deep = { child: deep }
    const recursive = { type: 'object', properties: { child: { ref: 'self' } } } as const
    const result = process(recursive, () => recursive, deep, { default: true, prune: true })
    expect(result.errors.map(({ message }) => message)).toEqual(['Invalid value: "": exceeded max depth'])
  })

  test('a catastrophic pattern is checked in linear time', () => {
    const slow = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } as const
    const started = performance.now()
    const result = process(slow, noRefs, { a: `${'a'.repeat(50)}!` }, { default: true, prune: true })
    expect(result.errors).toHaveLength(1)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

test('errors of unchanged items in a long list are found without comparing all with all', () => {
  const item = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 1 } } }
  const open = schemaFromOpenApi({
    type: 'object',
    properties: {
      list: {
        type: 'array',
        items: item,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    },
  })
  const list = Array.from({ length: 40_000 }, (_, index) => ({ name: `n${index}`, size: 2 }))
  const next = [...list.toReversed(), { name: 'new', size: 2 }]
  const { errors } = process(open, noRefs, { list: next }, { default: true, prune: true, old: { list } })
  expect(errors.map(({ field }) => field)).toEqual(['list[40000].size'])
})

test('the number and the length of reported unknown fields are bounded', () => {
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]))
  const open = schemaFromOpenApi({
    type: 'object',
    properties: { map: { type: 'object', additionalProperties: { type: 'object', properties: {} } } },
  })
  const options = { default: true, prune: true }
  expect(process(open, noRefs, fields, options).unknown.length).toBe(100)
  const { object, unknown } = process(open, noRefs, { map: { ['long'.repeat(100_000)]: fields } }, options)
  expect(unknown.join('').length).toBeLessThan(20_000)
  expect(JSON.stringify(object).length).toBeLessThan(500_000)
})

test('an object whose texts are too long for its patterns is rejected before they are matched', () => {
  const rule = { type: 'string', pattern: '^([ab]?){300}[ab]*a[ab]{600}[cd]$' }
  const open = schemaFromOpenApi({
    type: 'object',
    properties: { text: rule, texts: { type: 'array', items: { not: rule } } },
  })
  const options = { default: true, prune: true }
  const why = 'takes too many steps'
  expect(process(open, noRefs, { text: 'ab'.repeat(500_000) }, options).errors[0]?.message).toContain(why)
  const texts = Array.from({ length: 50_000 }, () => 'ab'.repeat(10))
  expect(process(open, noRefs, { texts }, options).errors[0]?.message).toContain(why)
  expect(process(open, noRefs, { texts: ['ab'] }, options).errors).toEqual([])
})

test('the number and the length of field errors are bounded, and the object stays refused', () => {
  const open = schemaFromOpenApi({
    type: 'object',
    properties: {
      map: { type: 'object', additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } } },
      list: { type: 'array', items: { not: {} } },
    },
  })
  const options = { default: true, prune: true }
  const wrong = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`x${index}`, 'text']))
  const { errors } = process(open, noRefs, { map: { ['long'.repeat(100_000)]: wrong } }, options)
  expect(errors.length).toBeGreaterThan(0)
  expect(JSON.stringify(errors).length).toBeLessThan(15_000_000)
  const list = Array.from({ length: 200_000 }, () => 1)
  expect(process(open, noRefs, { list, map: { a: { b: 'x' } } }, options).errors.length).toBeGreaterThan(0)
})
