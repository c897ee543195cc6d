/** Times: nanoseconds and a zone. */
import { fn } from '../functions/define.ts'
import type { GoFunction } from '../values/go-function.ts'
import { GoInt, GoStruct, goInt, goInt64 } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { formatTime } from './layouts.ts'
import { civilOf } from './civil.ts'
import type { Instant } from './civil.ts'

export type { Instant }

/** The zero time of Go: the first of January of the year 1. */
export const ZERO_TIME: Instant = { nanoseconds: -62_135_596_800n * 1_000_000_000n, zone: { name: 'UTC', offset: 0 } }

const RFC_3339_NANO = '2006-01-02T15:04:05.999999999Z07:00'

export const instantOf = (value: GoStruct): Instant => value.options.inner as Instant

const get = (name: string, read: () => GoValue): readonly [string, GoFunction] => [name, fn(name, [], read)]

export function goTime(instant: Instant): GoStruct {
  const compare = (name: string, test: (a: bigint, b: bigint) => GoValue): readonly [string, GoFunction] => [
    name,
    fn(name, ['time.Time'], ([other]) => test(instant.nanoseconds, instantOf(other).nanoseconds)),
  ]
  const civil = (): ReturnType<typeof civilOf> => civilOf(instant)
  const methods = new Map<string, GoFunction>([
    get('Year', () => goInt(civil().year)),
    get('Month', () => new GoInt('int', BigInt(civil().month), 'time.Month')),
    get('Day', () => goInt(civil().day)),
    get('Hour', () => goInt(civil().hour)),
    get('Minute', () => goInt(civil().minute)),
    get('Second', () => goInt(civil().second)),
    get('Nanosecond', () => goInt(civil().nanosecond)),
    get('Weekday', () => new GoInt('int', BigInt(civil().weekday), 'time.Weekday')),
    get('YearDay', () => goInt(civil().yearDay)),
    get('Unix', () => goInt64(floor(instant.nanoseconds, 1_000_000_000n))),
    get('UnixMilli', () => goInt64(floor(instant.nanoseconds, 1_000_000n))),
    get('UnixMicro', () => goInt64(floor(instant.nanoseconds, 1000n))),
    get('UnixNano', () => goInt64(instant.nanoseconds)),
    get('IsZero', () => instant.nanoseconds === ZERO_TIME.nanoseconds),
    get('UTC', () => goTime({ ...instant, zone: 'UTC' })),
    get('String', () => timeText(instant)),
    ['Format', fn('Format', ['string'], ([layout]) => formatTime(instant, layout))],
    [
      'Add',
      fn('Add', ['time.Duration'], ([duration]) => goTime({ ...instant, nanoseconds: instant.nanoseconds + duration })),
    ],
    [
      'AddDate',
      fn('AddDate', ['int', 'int', 'int'], ([years, months, days]) => {
        const { year, month, day } = civil()
        const start = Date.UTC(year, month - 1, day)
        const end = Date.UTC(year + years, month - 1 + months, day + days)
        return goTime({ ...instant, nanoseconds: instant.nanoseconds + BigInt(end - start) * 1_000_000n })
      }),
    ],
    compare('Before', (a, b) => a < b),
    compare('After', (a, b) => a > b),
    compare('Equal', (a, b) => a === b),
    compare('Sub', (a, b) => new GoInt('int64', a - b, 'time.Duration')),
  ])
  return new GoStruct('time.Time', [], {
    methods,
    text: () => timeText(instant),
    json: () => formatTime(instant, RFC_3339_NANO),
    inner: instant,
  })
}

const timeText = (instant: Instant): string => formatTime(instant, '2006-01-02 15:04:05.999999999 -0700 MST')

/** Rounded down. */
export const floor = (value: bigint, unit: bigint): bigint => {
  const quotient = value / unit
  return value % unit < 0n ? quotient - 1n : quotient
}
