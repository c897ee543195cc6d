import { readFileSync } from 'node:fs'
import path from 'node:path'

import { describe, expect, test } from 'vitest'

import { schemaFromOpenApi, schemaToOpenApi } from '../openapi/convert.ts'
import type { FieldError } from '../types.ts'
import { checkStructural } from './structural.ts'

interface Answer {
  readonly schema: unknown
  /** The errors of kube-apiserver 1.36.3 for a CRD with this schema. */
  readonly errors: readonly FieldError[]
}

const answers = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../testdata/structural-answers.json'), 'utf8'),
) as readonly Answer[]

// The schema of a CRD with one version is reported at the top level.
const PATH = 'spec.validation.openAPIV3Schema'
const ordered = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, reason, message }) => `${field} ${reason} ${message}`).toSorted()

describe('the schema of a CRD', () => {
  test.each(answers.map((answer): [string, Answer] => [JSON.stringify(answer.schema), answer]))(
    'the schema %s has the errors of kube-apiserver',
    (_, { schema, errors }) => {
      expect(ordered(checkStructural(schema, PATH))).toEqual(ordered(errors))
    },
  )

  test('a status subresource restricts the root of the schema', () => {
    const schema = { type: 'object', properties: {}, anyOf: [{ required: ['spec'] }] }
    expect(checkStructural(schema, PATH)).toEqual([])
    expect(checkStructural(schema, PATH, { hasStatus: true }).map(({ field, reason }) => ({ field, reason }))).toEqual([
      { field: PATH, reason: 'FieldValueInvalid' },
    ])
  })

  test('a schema converts to OpenAPI and back without loss', () => {
    const schema = {
      type: 'object',
      description: 'x',
      properties: {
        a: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', maxItems: 3 },
        b: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        c: { type: 'object', additionalProperties: { type: 'integer', default: 1 }, 'x-kubernetes-map-type': 'atomic' },
        d: { type: 'string', not: { enum: ['x'] }, 'x-kubernetes-validations': [{ rule: 'true' }] },
      },
    }
    expect(schemaToOpenApi(schemaFromOpenApi(schema))).toEqual(schema)
  })
})

test('a schema with more patterns than can be compiled in a moment is rejected', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [
      `p${index}`,
      { type: 'string', pattern: `^a{${index % 50}}b${index}$` },
    ]),
  )
  expect(checkStructural({ type: 'object', properties }, 'schema')).toMatchObject([
    { field: 'schema', message: expect.stringContaining('patterns of a schema must not be larger') as string },
  ])
})
