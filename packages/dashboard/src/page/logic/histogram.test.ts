import { expect, test } from 'vitest'
import { histogramBars, histogramQuantile } from './histogram.ts'

const histogram = { le: [0.1, 0.5, 1, 5], counts: [0, 6, 8, 8, 10], sum: 20, count: 10 }

test('cumulative counts become single buckets without the empty ends', () => {
  expect(histogramBars(histogram)).toEqual([
    { from: 0.1, to: 0.5, count: 6 },
    { from: 0.5, to: 1, count: 2 },
    { from: 1, to: 5, count: 0 },
    { from: 5, to: Infinity, count: 2 },
  ])
})

test('a quantile is interpolated within its bucket', () => {
  expect(histogramQuantile(histogram, 0.3)).toBeCloseTo(0.3)
  expect(histogramQuantile(histogram, 0.8)).toBeCloseTo(1)
  expect(histogramQuantile(histogram, 0.99)).toBe(5)
})

test('an empty histogram has no bars and no quantiles', () => {
  const empty = { le: [1], counts: [0, 0], sum: 0, count: 0 }
  expect(histogramBars(empty)).toEqual([])
  expect(histogramQuantile(empty, 0.5)).toBeUndefined()
  expect(histogramQuantile({ le: [], counts: [], sum: 0, count: 0 }, 0.5)).toBeUndefined()
})
