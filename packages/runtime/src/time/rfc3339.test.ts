import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTime } from './rfc3339.ts'

const number = (max: number) => fc.integer({ min: 0, max })
const digits = (value: number, length: number): string => String(value).padStart(length, '0')

test('a time in the format of Kubernetes is read as the same time in any other format', () => {
  fc.assert(
    fc.property(
      number(9_999),
      number(13),
      number(32),
      number(25),
      number(61),
      number(61),
      (year, month, day, h, m, s) => {
        const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`
        const time = `${date}T${digits(h, 2)}:${digits(m, 2)}:${digits(s, 2)}`
        expect(parseTime(`${time}Z`)).toBe(parseTime(`${time}+00:00`))
      },
    ),
    { numRuns: 2_000 },
  )
})

test.each([
  ['2026-06-11T21:48:11Z', Date.UTC(2026, 5, 11, 21, 48, 11)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-12-31T23:59:59Z', Date.UTC(2026, 11, 31, 23, 59, 59)],
  ['0026-01-01T00:00:00Z', -61_346_678_400_000],
  ['2026-06-11T21:48: 1Z', undefined],
  ['2026-06-11T21:48:+1Z', undefined],
  ['2026-06-11t21:48:11z', Date.UTC(2026, 5, 11, 21, 48, 11)],
])('%s is read as %s', (text, expected) => {
  expect(parseTime(text)).toBe(expected)
})
