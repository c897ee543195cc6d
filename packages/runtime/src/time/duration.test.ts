import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['-0', 0],
    ['-0s', 0],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['300ms', 300],
    ['+5s', 5_000],
    ['-1m30s', -90_000],
    ['.5s', 500],
    ['1.s', 1_000],
    ['20\u00B5s', 0.02],
    ['20\u03BCs', 0.02],
    ['20us', 0.02],
    ['1ns', 0.000001],
    ['1m1m', 120_000],
    ['0.3333333333333333333h', 1_199_999.999999],
    ['2562047h47m16.854775807s', 9_223_372_036_854.775],
  ])('%s parses as in Go', (text, milliseconds) => {
    expect(parseDuration(text)).toBeCloseTo(milliseconds, 3)
  })

  test.each([
    '',
    '-',
    '+',
    '3',
    '1h30',
    '.',
    '.s',
    '-.s',
    '1d',
    '1w',
    '1H',
    'h',
    '1h 30m',
    ' 1h',
    '1h ',
    '1e3s',
    '--1s',
    '1,5h',
    '١h',
    '1.2.3s',
    'Infinityh',
  ])('%j is rejected', (text) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'TENURE_DURATION_INVALID' }))
  })

  test('the error names the number that lacks a unit', () => {
    expect(() => parseDuration('1h30')).toThrow('"1h30" has no unit after 30; write numbers with units')
  })

  test('overflowing durations are rejected quickly', () => {
    for (const text of ['2562047h47m16.854775808s', '9999999999999h', `${'9'.repeat(90)}ns`, '9'.repeat(1_000_000)]) {
      expect(() => parseDuration(text)).toThrow(/longer than a duration can be|too long/)
    }
  })
})

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [-0, '0s'],
    [5_400_000, '1h30m0s'],
    [1_500, '1.5s'],
    [300, '300ms'],
    [0.02, '20\u00B5s'],
    [0.000001, '1ns'],
    [60_000, '1m0s'],
    [-90_000, '-1m30s'],
    [86_400_000, '24h0m0s'],
    [1e300, '2562047h47m16.854775807s'],
  ])('%d ms is formatted as in Go', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text)
  })

  test('values that are not finite are rejected', () => {
    expect(() => formatDuration(Number.NaN)).toThrow(/not a finite number/)
  })

  test('a formatted duration parses to the same value', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (microseconds) => {
        const milliseconds = Math.trunc(microseconds / 1_000) + 0
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds)
      }),
    )
  })
})

test('days and weeks are accepted only if they are asked for', () => {
  expect(parseDuration('1w2d3h', { days: true })).toBe(((7 + 2) * 24 + 3) * 3_600_000)
  expect(parseDuration('1.5d', { days: true })).toBe(36 * 3_600_000)
  expect(() => parseDuration('1d')).toThrow('is not a duration')
  expect(() => parseDuration('1mo', { days: true })).toThrow('is not a duration')
})
