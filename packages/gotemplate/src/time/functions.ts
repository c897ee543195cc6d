/** sprig's functions on dates and durations. */
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { GoInt, GoStruct } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { fn } from '../functions/define.ts'
import { parseInBase } from '../functions/numbers.ts'
import { durationText, parseDuration } from './durations.ts'
import { floor, goTime, instantOf, ZERO_TIME } from './go-time.ts'
import type { Instant } from './go-time.ts'
import { formatTime } from './layouts.ts'
import { parseTime, TimeProblem } from './parse-time.ts'
import { isZone } from './zones.ts'

const SECOND = 1_000_000_000n

const now = ({ environment }: FunctionContext): Instant => ({
  nanoseconds: BigInt(Math.floor(environment.now())) * 1_000_000n,
  zone: environment.timeZone,
})

/** The time that a value stands for: a time or seconds since 1970, else now. */
function timeOf(value: GoValue, context: FunctionContext): Instant {
  if (value instanceof GoStruct && value.type === 'time.Time') return instantOf(value)
  if (value instanceof GoInt && value.named === undefined && ['int', 'int32', 'int64'].includes(value.kind)) {
    return { nanoseconds: value.value * SECOND, zone: context.environment.timeZone }
  }
  return now(context)
}

function inZone(layout: string, value: GoValue, zone: string, context: FunctionContext): string {
  const name = zone === 'Local' ? context.environment.timeZone : isZone(zone) ? zone : 'UTC'
  return formatTime({ ...timeOf(value, context), zone: name }, layout)
}

function ago(value: GoValue, context: FunctionContext): string {
  const isSeconds = !(value instanceof GoInt && value.kind === 'int32')
  const then = isSeconds ? timeOf(value, context) : now(context)
  const elapsed = now(context).nanoseconds - then.nanoseconds
  const size = elapsed < 0n ? -elapsed : elapsed
  const rounded = floor(size + SECOND / 2n, SECOND) * SECOND
  return durationText(elapsed < 0n ? -rounded : rounded)
}

function seconds(value: GoValue): bigint {
  if (typeof value === 'string') return clamp(parseInBase(value, 10) ?? 0n)
  return value instanceof GoInt && value.kind === 'int64' && value.named === undefined ? value.value : 0n
}

const clamp = (value: bigint): bigint =>
  value > 2n ** 63n - 1n ? 2n ** 63n - 1n : value < -(2n ** 63n) ? -(2n ** 63n) : value

const ROUNDED: readonly (readonly [bigint, string])[] = [
  [3600n * 24n * 365n * SECOND, 'y'],
  [3600n * 24n * 30n * SECOND, 'mo'],
  [3600n * 24n * SECOND, 'd'],
  [3600n * SECOND, 'h'],
  [60n * SECOND, 'm'],
  [SECOND, 's'],
]

function roundedDuration(value: GoValue, context: FunctionContext): string {
  let nanoseconds = 0n
  if (typeof value === 'string') nanoseconds = parseDuration(value) ?? 0n
  else if (value instanceof GoInt && value.kind === 'int64') nanoseconds = value.value
  else if (value instanceof GoStruct && value.type === 'time.Time') {
    nanoseconds = now(context).nanoseconds - instantOf(value).nanoseconds
  }
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds
  const found = ROUNDED.find(([unit]) => size > unit)
  return found ? `${size / found[0]}${found[1]}` : '0s'
}

function modified(change: string, value: GoStruct): GoStruct | undefined {
  const duration = parseDuration(change)
  if (duration === undefined) return undefined
  const instant = instantOf(value)
  return goTime({ ...instant, nanoseconds: instant.nanoseconds + duration })
}

const mustModify = (name: string): GoFunction =>
  fn(name, ['string', 'time.Time'], ([change, value]) => {
    const result = modified(change, value)
    if (!result) throw new FunctionError(`time: invalid duration ${JSON.stringify(change)}`)
    return result
  })

const modify = (name: string): GoFunction =>
  fn(name, ['string', 'time.Time'], ([change, value]) => modified(change, value) ?? value)

const zoned = (name: string): GoFunction =>
  fn(name, ['string', 'interface {}', 'string'], ([layout, value, zone], context) =>
    inZone(layout, value, zone, context),
  )

const HTML_DATE = '2006-01-02'

export const timeFunctions: readonly GoFunction[] = [
  fn('now', [], (_args, context) => goTime(now(context))),
  fn('ago', ['interface {}'], ([value], context) => ago(value, context)),
  fn('date', ['string', 'interface {}'], ([layout, value], context) => inZone(layout, value, 'Local', context)),
  zoned('date_in_zone'),
  zoned('dateInZone'),
  modify('date_modify'),
  modify('dateModify'),
  mustModify('must_date_modify'),
  mustModify('mustDateModify'),
  fn('duration', ['interface {}'], ([value]) => durationText(BigInt.asIntN(64, seconds(value) * SECOND))),
  fn('durationRound', ['interface {}'], ([value], context) => roundedDuration(value, context)),
  fn('htmlDate', ['interface {}'], ([value], context) => inZone(HTML_DATE, value, 'Local', context)),
  fn('htmlDateInZone', ['interface {}', 'string'], ([value, zone], context) => inZone(HTML_DATE, value, zone, context)),
  fn('toDate', ['string', 'string'], ([layout, text], context) => {
    try {
      return goTime(parseTime(layout, text, context.environment.timeZone))
    } catch (error) {
      if (error instanceof TimeProblem) return goTime(ZERO_TIME)
      throw error
    }
  }),
  fn('mustToDate', ['string', 'string'], ([layout, text], context) => {
    try {
      return goTime(parseTime(layout, text, context.environment.timeZone))
    } catch (error) {
      throw error instanceof TimeProblem ? new FunctionError(error.message) : error
    }
  }),
  fn('unixEpoch', ['time.Time'], ([value]) => floor(instantOf(value).nanoseconds, SECOND).toString()),
]
