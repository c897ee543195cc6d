import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { barHeight, type TimelineItem, timelineOf } from './timeline.ts'

const MINUTE = 60_000

const item = (minutes: number, series: 'claims' | 'leases' = 'leases', id = `${minutes}`): TimelineItem => ({
  id,
  kind: 'ConfigMap',
  series,
  name: id,
  expiresAt: minutes * MINUTE,
})

describe('a timeline', () => {
  test('each bar counts what ends in its span', () => {
    const items = [item(0.5), item(0.7, 'claims', 'c'), item(59.9), item(60), item(3_000)]
    const { bars, highest, total } = timelineOf(items, { range: 'hour', now: 0, limit: 3 })
    expect(bars).toHaveLength(60)
    expect(bars[0]).toEqual({ from: 0, to: MINUTE, claims: 1, leases: 1 })
    expect(bars[59]).toMatchObject({ leases: 1 })
    expect([total, highest]).toEqual([3, 2])
  })

  test('what is overdue counts as ending now', () => {
    const { bars, soonest } = timelineOf([item(-5)], { range: 'day', now: 0, limit: 3 })
    expect(bars[0]?.leases).toBe(1)
    expect(soonest).toHaveLength(1)
  })

  test('the soonest are those that sorting everything would give', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5, max: 55 })), (minutes) => {
        const items = minutes.map((minute, index) => item(minute, 'leases', String(index).padStart(4, '0')))
        const { soonest } = timelineOf(items, { range: 'hour', now: 0, limit: 5 })
        const sorted = items.toSorted((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))
        expect(soonest).toEqual(sorted.slice(0, 5))
      }),
    )
  })
})

test('one item stays visible beside thousands', () => {
  expect(barHeight(0, 10_000)).toBe(0)
  expect(barHeight(1, 10_000)).toBe(0.01)
  expect(barHeight(10_000, 10_000)).toBe(1)
  expect(barHeight(0, 0)).toBe(0)
})
