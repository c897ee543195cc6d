/** The calendar date and the clock time of an instant in its zone. */
import { offsetAt } from './zones.ts'
import type { Zone, ZoneOffset } from './zones.ts'

export interface Instant {
  /** Since 1970. */
  readonly nanoseconds: bigint
  readonly zone: Zone
}

export interface Civil {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanosecond: number
  /** From 0, Sunday. */
  readonly weekday: number
  /** From 1. */
  readonly yearDay: number
  readonly zone: ZoneOffset
}

const NANOSECONDS_PER_SECOND = 1_000_000_000n
/** After 400 years the calendar repeats, weekdays included. */
const YEARS_PER_CYCLE = 400
const SECONDS_PER_CYCLE = 12_622_780_800n
/** JavaScript's Date ends soon after this many seconds before and after 1970; Go's time does not. */
const MAX_SECONDS = 8_000_000_000_000n

export function civilOf({ nanoseconds, zone }: Instant): Civil {
  const nanosecond = Number(((nanoseconds % NANOSECONDS_PER_SECOND) + NANOSECONDS_PER_SECOND) % NANOSECONDS_PER_SECOND)
  const all = (nanoseconds - BigInt(nanosecond)) / NANOSECONDS_PER_SECOND
  const cycles = cyclesBeyondDate(all)
  const seconds = Number(all - cycles * SECONDS_PER_CYCLE)
  const offset = offsetAt(zone, seconds * 1000)
  const local = new Date((seconds + offset.offset) * 1000)
  const year = local.getUTCFullYear()
  const firstDay = new Date(0)
  firstDay.setUTCFullYear(year, 0, 1)
  return {
    year: year + Number(cycles) * YEARS_PER_CYCLE,
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    nanosecond,
    weekday: local.getUTCDay(),
    yearDay: Math.floor((local.getTime() - firstDay.getTime()) / 86_400_000) + 1,
    zone: offset,
  }
}

/** Cycles by which a time is moved into Date's range: to the next centuries, or to those before the first time zones. */
function cyclesBeyondDate(seconds: bigint): bigint {
  if (seconds > MAX_SECONDS) return seconds / SECONDS_PER_CYCLE - 1n
  return seconds < -MAX_SECONDS ? seconds / SECONDS_PER_CYCLE + 1n : 0n
}
