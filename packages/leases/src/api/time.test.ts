import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ceilSecond, floorSecond, formatTime, isWritable, parseTime, parseTimeOrDate } from './time.ts'

describe('parseTime', () => {
  test.each([
    ['2026-06-11T20:48:11Z', Date.UTC(2026, 5, 11, 20, 48, 11)],
    ['2026-06-11t20:48:11z', Date.UTC(2026, 5, 11, 20, 48, 11)],
    ['2026-06-11T20:48:11.5Z', Date.UTC(2026, 5, 11, 20, 48, 11, 500)],
    ['2026-06-11T20:48:11.0001Z', Date.UTC(2026, 5, 11, 20, 48, 11, 1)],
    ['2026-06-11T20:48:11+02:00', Date.UTC(2026, 5, 11, 18, 48, 11)],
    ['2026-06-11T20:48:11-09:30', Date.UTC(2026, 5, 12, 6, 18, 11)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['0026-01-01T00:00:00Z', new Date('0026-01-01T00:00:00Z').getTime()],
  ])('the time %s is read', (text, time) => {
    expect(parseTime(text)).toBe(time)
  })

  test.each([
    '',
    'now',
    '2026-06-11',
    '2026-06-11T20:48Z',
    '2026-06-11T20:48:11',
    '2026-06-11 20:48:11Z',
    '2026-6-11T20:48:11Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-06-31T00:00:00Z',
    '2026-06-11T24:00:00Z',
    '2026-06-11T20:60:00Z',
    '2026-06-11T20:48:60Z',
    '2026-06-11T20:48:11+0200',
    '2026-06-11T20:48:11+24:00',
    '2026-06-11T20:48:11+02:60',
    '2026-06-11T20:48:11.Z',
    ' 2026-06-11T20:48:11Z',
    '+002026-06-11T20:48:11Z',
    '1767268800',
  ])('the text %j is refused', (text) => {
    expect(parseTime(text)).toBeUndefined()
  })

  test('a formatted time is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (second) => {
        expect(parseTime(formatTime(second * 1_000))).toBe(second * 1_000)
      }),
    )
  })
})

test('a date means its midnight in UTC', () => {
  expect(parseTimeOrDate('2026-06-11')).toBe(Date.UTC(2026, 5, 11))
  expect(parseTimeOrDate('2026-02-30')).toBeUndefined()
  expect(parseTimeOrDate('2026-06-11T00:00:01Z')).toBe(Date.UTC(2026, 5, 11) + 1_000)
})

test('times are rounded to whole seconds', () => {
  expect([ceilSecond(1), ceilSecond(1_000), floorSecond(1_999)]).toEqual([1_000, 1_000, 1_000])
  expect([isWritable(Date.UTC(9999, 11, 31, 23, 59, 59)), isWritable(Date.UTC(10_000, 0, 1))]).toEqual([true, false])
})
