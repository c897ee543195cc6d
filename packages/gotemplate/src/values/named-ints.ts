/** Integers of defined types, which print as words. */
import { durationText } from '../time/durations.ts'
import { MONTHS, WEEKDAYS } from './names.ts'
import type { GoInt } from './values.ts'

/** The result of `String()`; undefined for types without it. */
export function intText({ named, value }: GoInt): string | undefined {
  switch (named) {
    case 'time.Month':
      return MONTHS[Number(value) - 1] ?? `%!Month(${value})`
    case 'time.Weekday':
      return WEEKDAYS[Number(value)] ?? `%!Weekday(${value})`
    case 'time.Duration':
      return durationText(value)
    default:
      return undefined
  }
}
