import { expect, test } from 'vitest'
import { NO_DEMAND, poolSize } from './size.ts'

const FIXED = { count: 4, spare: undefined, min: 0, max: 100, cooldown: 60_000 }
const BY_DEMAND = { ...FIXED, spare: 2, min: 3, max: 10 }

test('a pool without spare keeps its count', () => {
  expect(poolSize(FIXED, 7, 0, NO_DEMAND)).toMatchObject({ idle: 4, again: undefined })
})

test.each([
  [0, 3],
  [1, 2],
  [5, 2],
  [9, 1],
  [12, 0],
])('with %i claimed members a pool by demand keeps %i idle ones', (claimed, idle) => {
  expect(poolSize(BY_DEMAND, claimed, 0, NO_DEMAND).idle).toBe(idle)
})

test('a pool by demand gets smaller only after the cooldown', () => {
  const peak = poolSize(BY_DEMAND, 6, 0, NO_DEMAND)
  expect(peak.idle).toBe(2)
  const soon = poolSize(BY_DEMAND, 2, 30_000, peak.demand)
  expect(soon).toMatchObject({ idle: 6, again: 60_000 })
  expect(poolSize(BY_DEMAND, 2, 60_000, soon.demand).idle).toBe(2)
})
