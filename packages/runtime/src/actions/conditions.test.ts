import type { Condition } from '@tenure/kube'
import { expect, test } from 'vitest'
import { getCondition, isTrue, setCondition } from './conditions.ts'

const noon = Date.UTC(2026, 0, 1, 12, 0, 0, 789)
const existing: readonly Condition[] = [
  { type: 'Other', status: 'True', reason: 'R', message: '', lastTransitionTime: '2025-01-01T00:00:00Z' },
  { type: 'Ready', status: 'False', reason: 'Starting', message: 'x', lastTransitionTime: '2025-06-01T00:00:00Z' },
]

test('the transition time changes only with the status', () => {
  const same = setCondition(existing, { type: 'Ready', status: 'False', reason: 'Slow', message: 'y' }, noon)
  expect(same[1]).toEqual({ ...existing[1], reason: 'Slow', message: 'y' })
  const ready = setCondition(
    same,
    { type: 'Ready', status: 'True', reason: 'Up', message: '', observedGeneration: 4 },
    noon,
  )
  expect(getCondition(ready, 'Ready')).toEqual({
    type: 'Ready',
    status: 'True',
    reason: 'Up',
    message: '',
    observedGeneration: 4,
    lastTransitionTime: '2026-01-01T12:00:00Z',
  })
  expect(ready.map((condition) => condition.type)).toEqual(['Other', 'Ready'])
  expect(ready[0]).toBe(existing[0])
})

test('a new condition is appended, also to an undefined list', () => {
  const first = setCondition(undefined, { type: 'Ready', status: 'Unknown', reason: 'R', message: '' }, noon)
  expect(first).toHaveLength(1)
  expect(isTrue(first, 'Ready')).toBe(false)
  expect(isTrue(existing, 'Other')).toBe(true)
  expect(isTrue(undefined, 'Other')).toBe(false)
})
