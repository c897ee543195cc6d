import { expect, test } from 'vitest'
import { durationInWords, fromNow, roughDuration } from './durations.ts'

test('durations are printed in words', () => {
  expect(durationInWords(90_061_001)).toBe('1 day 1 hour 1 minute 1 second 1 millisecond')
  expect([roughDuration(90_061_001), roughDuration(59_999), roughDuration(86_400_000 * 40), roughDuration(5)]).toEqual([
    '1d1h',
    '59s',
    '40d',
    '0s',
  ])
  expect([fromNow(1_500, 1_000), fromNow(61_000, 0), fromNow(0, 61_000)]).toEqual(['now', 'in 1m1s', '1m1s ago'])
})
