import { expect, test } from 'vitest'
import { DecodeError } from '../decode/decode-error.ts'
import { readDeleteOptions, withDeleteOptions } from './delete-options.ts'

test('options are read, and absent ones are left out', () => {
  const preconditions = { uid: 'u', resourceVersion: '7' }
  const options = { gracePeriodSeconds: 0, orphanDependents: false, propagationPolicy: 'Orphan', dryRun: ['All'] }
  expect(readDeleteOptions({ kind: 'DeleteOptions', ...options, preconditions, unknown: 1 })).toEqual({
    ...options,
    preconditions,
  })
  expect(readDeleteOptions({})).toEqual({})
})

test.each([
  { preconditions: { uid: 5 } },
  { preconditions: { resourceVersion: 5 } },
  { preconditions: 'x' },
  { preconditions: [] },
  { dryRun: 'All' },
  { dryRun: true },
  { dryRun: [1] },
  { gracePeriodSeconds: 1.5 },
  { gracePeriodSeconds: '1' },
  { orphanDependents: 'yes' },
  { propagationPolicy: 5 },
])('an option of the wrong type is refused, not ignored: %j', (sent) => {
  expect(() => readDeleteOptions(sent)).toThrow(DecodeError)
})

test('a body replaces all delete options of the query, and no others', () => {
  const query = { labelSelector: 'a', dryRun: ['All'], propagationPolicy: 'Orphan', gracePeriodSeconds: 3 }
  expect(withDeleteOptions(query, { gracePeriodSeconds: 0 })).toEqual({ labelSelector: 'a', gracePeriodSeconds: 0 })
})
