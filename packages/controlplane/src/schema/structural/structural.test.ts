import { readFileSync } from 'node:fs'
import path from 'node:path'

import { describe, expect, it } from 'vitest'

import { schemaFromOpenApi, schemaToOpenApi } from '../openapi/convert.ts'
import type { FieldError } from '../types.ts'
import { checkStructural } from './structural.ts'

interface Answer {
  readonly schema: unknown
  /** What kube-apiserver 1.36.3 said of a CRD with this schema. */
  readonly errors: readonly FieldError[]
}

const answers = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../testdata/structural-answers.json'), 'utf8'),
) as readonly Answer[]

// A CRD of one version stores its schema at the top.
const PATH = 'spec.validation.openAPIV3Schema'
const ordered = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, reason, message }) => `${field} ${reason} ${message}`).toSorted()

describe('the schema of a CRD', () => {
  it.each(answers.map((answer): [string, Answer] => [JSON.stringify(answer.schema), answer]))(
    'is refused as by the real server: %s',
    (_, { schema, errors }) => {
      expect(ordered(checkStructural(schema, PATH))).toEqual(ordered(errors))
    },
  )

  it('may have less at its root if there is a status', () => {
    const schema = { type: 'object', properties: {}, anyOf: [{ required: ['spec'] }] }
    expect(checkStructural(schema, PATH)).toEqual([])
    expect(checkStructural(schema, PATH, { hasStatus: true }).map(({ field, reason }) => ({ field, reason }))).toEqual([
      { field: PATH, reason: 'FieldValueInvalid' },
    ])
  })

  it('survives the way to our own form and back', () => {
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
