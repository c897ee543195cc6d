import { expect, test } from 'vitest'
import type { JsonObject } from '@tenure/kube/model'
import { validateJobSpec } from './job-validation.ts'

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } }

/** Returns the errors of the Job, without those of its pod template. */
const errors = (spec: JsonObject): readonly string[] =>
  validateJobSpec({ template, ...spec }, 'spec', false)
    .map(({ field, message }) => `${field}: ${message}`)
    .filter((line) => !line.startsWith('spec.template'))

const rules = (...list: readonly object[]): readonly string[] => errors({ podFailurePolicy: { rules: list } })

test('a pod failure rule needs either exit codes or conditions', () => {
  expect(rules({ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] })).toEqual([])
  expect(rules({ action: 'Ignore' })).toEqual([
    'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
  ])
  expect(rules({ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 1, 1] } })).toEqual([
    'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 1',
    'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1,1]: must be ordered',
  ])
})

const indexes = (succeededIndexes: string): readonly string[] =>
  errors({ completionMode: 'Indexed', completions: 3, successPolicy: { rules: [{ succeededIndexes }] } })

test('indexes must be ordered numbers and ranges below completions', () => {
  expect(['0,2', '0-2', ''].flatMap(indexes)).toEqual([])
  expect(['3', '1-0', 'x'].flatMap(indexes)).toEqual([
    expect.stringContaining('too large index: "3"'),
    expect.stringContaining('non-increasing order, previous: 1, current: 0'),
    expect.stringContaining('cannot convert string to integer for index: "x"'),
  ])
})

test('many completions require a limit of failed indexes', () => {
  const many = { completionMode: 'Indexed', completions: 200_000, backoffLimitPerIndex: 1 }
  expect(errors({ ...many, maxFailedIndexes: 10 })).toEqual([])
  expect(errors(many)).toEqual([
    'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
  ])
})
