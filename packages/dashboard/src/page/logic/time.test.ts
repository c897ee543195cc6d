import { describe, expect, test } from 'vitest'
import {
  ageText,
  countdownText,
  durationText,
  roughDurationText,
  secondsText,
  tookText,
  ttlText,
  urgencyOf,
} from './time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test.each([
  [0, '0s'],
  [999, '0s'],
  [45_000, '45s'],
  [MINUTE, '1m 00s'],
  [12 * MINUTE + 5_000, '12m 05s'],
  [HOUR + 5 * MINUTE + 59_000, '1h 05m'],
  [DAY - 1, '23h 59m'],
  [3 * DAY + 4 * HOUR, '3d 4h'],
  [400 * DAY, '400d 0h'],
  [-5, '0s'],
])('a duration of %i ms is written as %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text)
})

test('a job that ended within a second took less than one', () => {
  expect([0, 999, 1_000, 90_000].map(tookText)).toEqual([
    'took less than 1s',
    'took less than 1s',
    'took 1s',
    'took 1m 30s',
  ])
})

test('a rough duration has one unit', () => {
  expect([30_000, 5 * MINUTE, 3 * HOUR, 9 * DAY].map(roughDurationText)).toEqual(['30s', '5m', '3h', '9d'])
})

describe('a countdown', () => {
  test('the last second is shown as 1s until the end', () => {
    expect(countdownText(10_001, 10_000)).toBe('1s')
    expect(countdownText(11_000, 10_000)).toBe('1s')
    expect(countdownText(11_001, 10_000)).toBe('2s')
  })

  test('what has ended is called ended', () => {
    expect(countdownText(10_000, 10_000)).toBe('ended')
    expect(countdownText(9_000, 10_000)).toBe('ended')
  })

  test('the urgency grows towards the end', () => {
    expect([0, MINUTE, 30 * MINUTE, DAY].map((left) => urgencyOf(left, 0))).toEqual(['ended', 'soon', 'near', 'far'])
  })
})

test('an age is never negative, even if the clocks differ', () => {
  expect(ageText(10_000, 9_000)).toBe('0s')
  expect(ageText(0, 2 * HOUR)).toBe('2h')
})

test('a TTL is written as users write it', () => {
  expect([15 * MINUTE, 90 * MINUTE, DAY, 1_500, 20, 0].map(ttlText)).toEqual(['15m', '1h30m', '1d', '1s', '20ms', '0s'])
})

test('seconds get a unit that fits', () => {
  expect([0, 0.00035, 0.0012, 0.25, 3.44, 120].map(secondsText)).toEqual([
    '0',
    '350 µs',
    '1.2 ms',
    '250 ms',
    '3.4 s',
    '2m 00s',
  ])
})
