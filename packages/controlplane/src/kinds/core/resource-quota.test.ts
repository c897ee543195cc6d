import { expect, test } from 'vitest'
import type { FieldError } from '../../schema/types.ts'
import { validateLimitRange } from './limit-range.ts'
import { validateQuota, validateQuotaChange } from './resource-quota.ts'

const lines = (errors: readonly FieldError[]): readonly string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)

test('a quota accepts only known resources and integer counts', () => {
  expect(
    lines(validateQuota({ spec: { hard: { cpu: '1500m', 'count/jobs.batch': '1', 'example.com/gpu': '1' } } })),
  ).toEqual([])
  expect(lines(validateQuota({ spec: { hard: { pods: '1500m', storage: '1' } } }))).toEqual([
    'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
  ])
})

test('a scope must apply to the resources and is immutable', () => {
  const spec = { hard: { services: '1' }, scopes: ['BestEffort'] }
  expect(lines(validateQuota({ spec }))).toEqual([
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ])
  expect(lines(validateQuotaChange({ spec }, { spec: { ...spec, scopes: ['Terminating'] } }))).toEqual([
    'spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
  ])
})

test('min, max and ratio of a LimitRange must be consistent', () => {
  const limit = { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }
  expect(lines(validateLimitRange({ spec: { limits: [limit] } }))).toEqual([
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
  ])
  const ratio = { type: 'Container', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '5' } }
  expect(lines(validateLimitRange({ spec: { limits: [ratio] } }))).toEqual([
    'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "5": ratio 5 is greater than max/min = 2.000000',
  ])
})
