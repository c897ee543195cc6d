import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scrollToRow, visibleRange } from './visible-range.ts'

test('every row on the screen is drawn, with a screen above and below', () => {
  fc.assert(
    fc.property(fc.integer({ min: -5_000, max: 2_000_000 }), fc.integer({ min: 0, max: 30_000 }), (top, count) => {
      const height = 800
      const rowHeight = 34
      const { first, end } = visibleRange({ top, height, rowHeight, count })
      expect(first).toBeGreaterThanOrEqual(0)
      expect(end).toBeLessThanOrEqual(count)
      expect(end - first).toBeLessThan(100)
      const firstSeen = Math.max(0, Math.floor((top - height) / rowHeight))
      const lastSeen = Math.min(count, Math.ceil((top + 2 * height) / rowHeight))
      expect(firstSeen >= lastSeen || (first <= firstSeen && end >= lastSeen)).toBe(true)
    }),
  )
})

test('a list that is far below the screen draws nothing', () => {
  expect(visibleRange({ top: -10_000, height: 800, rowHeight: 34, count: 100 })).toEqual({ first: 0, end: 0 })
})

test('small scrolls draw the same rows', () => {
  const geometry = { height: 800, rowHeight: 34, count: 30_000 }
  expect(visibleRange({ ...geometry, top: 34_010 })).toEqual(visibleRange({ ...geometry, top: 34_020 }))
})

test('the page scrolls just far enough for a row', () => {
  const geometry = { top: 1_000, height: 800, rowHeight: 34, count: 1_000 }
  expect(scrollToRow(40, geometry, 34)).toBe(0)
  expect(scrollToRow(29, geometry, 34)).toBe(-48)
  expect(scrollToRow(60, geometry, 34)).toBe(274)
})
