import { goQuote } from '../schema/go-text.ts'
import { isTimeZone } from './time-zone.ts'

/** Minute, hour, day of the month, month, day of the week: the values that each field selects. */
export type CronFields = readonly [
  minute: CronField,
  hour: CronField,
  day: CronField,
  month: CronField,
  weekday: CronField,
]

export interface CronField {
  readonly values: ReadonlySet<number>
  /** True if the field begins with `*` or `?`. */
  readonly isAny: boolean
}

export type CronExpression = { readonly fields: CronFields } | { readonly every: string } | { readonly error: string }

interface FieldRange {
  readonly low: number
  readonly high: number
  /** Names of the values, beginning with that of `low`. */
  readonly names?: readonly string[]
}

const MINUTES: FieldRange = { low: 0, high: 59 }
const HOURS: FieldRange = { low: 0, high: 23 }
const DAYS: FieldRange = { low: 1, high: 31 }
const MONTHS: FieldRange = {
  low: 1,
  high: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
}
const WEEKDAYS: FieldRange = { low: 0, high: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] }

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

const EVERY = '@every '
const DURATION = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/

/** Reads a schedule with the syntax and the error texts of robfig/cron, which Kubernetes uses. */
export function parseCron(schedule: string): CronExpression {
  const zone = /^(?:CRON_)?TZ=(?<name>\S*)\s/.exec(schedule)?.groups?.['name']
  if (zone !== undefined && zone !== '' && !isTimeZone(zone)) {
    return { error: `provided bad location ${zone}: unknown time zone ${zone}` }
  }
  const text = schedule.replace(/^(?:CRON_)?TZ=\S+\s*/, '').trim()
  return text.startsWith('@') ? parseDescriptor(text) : parseFields(text)
}

/** Returns what is wrong with a schedule, or undefined if it is valid. */
export function cronError(schedule: string): string | undefined {
  const expression = parseCron(schedule)
  return 'error' in expression ? expression.error : undefined
}

function parseDescriptor(text: string): CronExpression {
  const fields = DESCRIPTORS.get(text)
  if (fields !== undefined) return parseFields(fields)
  if (!text.startsWith(EVERY)) return { error: `unrecognized descriptor: ${text}` }
  const every = text.slice(EVERY.length)
  if (DURATION.test(every)) return { every }
  return { error: `failed to parse duration ${text}: time: invalid duration ${goQuote(every)}` }
}

function parseFields(text: string): CronExpression {
  const texts = text.split(/\s+/).filter(Boolean)
  const [minute, hour, day, month, weekday] = texts
  if (!minute || !hour || !day || !month || !weekday || texts.length > 5) {
    return { error: `expected exactly 5 fields, found ${texts.length}: [${texts.join(' ')}]` }
  }
  try {
    return {
      fields: [
        parseField(minute, MINUTES),
        parseField(hour, HOURS),
        parseField(day, DAYS),
        parseField(month, MONTHS),
        parseField(weekday, WEEKDAYS),
      ],
    }
  } catch (error) {
    if (error instanceof CronSyntaxError) return { error: error.message }
    throw error
  }
}

/** Leaves the parser; `parseFields` turns it into an `error`. */
class CronSyntaxError extends Error {}

function parseField(text: string, range: FieldRange): CronField {
  const values = new Set<number>()
  // robfig/cron ignores empty parts: `1,,2` is valid.
  for (const part of text.split(',').filter(Boolean)) addValues(part, range, values)
  return { values, isAny: /^[*?]/.test(text) }
}

function addValues(part: string, range: FieldRange, values: Set<number>): void {
  const { low, high } = range
  const [bounds = '', step, ...moreSteps] = part.split('/')
  if (moreSteps.length > 0) throw new CronSyntaxError(`too many slashes: ${part}`)
  const [first = '', last, ...moreBounds] = bounds.split('-')
  if (moreBounds.length > 0) throw new CronSyntaxError(`too many hyphens: ${part}`)
  let [start, end] = [low, high]
  // robfig/cron ignores the end of a range that begins with `*`.
  if (first !== '*' && first !== '?') {
    start = parseValue(first, range)
    end = last !== undefined ? parseValue(last, range) : step === undefined ? start : high
  }
  const increment = step === undefined ? 1 : parseStep(step)
  if (start < low) throw new CronSyntaxError(`beginning of range (${start}) below minimum (${low}): ${part}`)
  if (end > high) throw new CronSyntaxError(`end of range (${end}) above maximum (${high}): ${part}`)
  if (start > end) throw new CronSyntaxError(`beginning of range (${start}) beyond end of range (${end}): ${part}`)
  if (increment === 0) throw new CronSyntaxError(`step of range should be a positive number: ${part}`)
  for (let value = start; value <= end; value += increment) values.add(value)
}

function parseStep(text: string): number {
  if (/^-\d+$/.test(text)) throw new CronSyntaxError(`negative number (${text}) not allowed: ${text}`)
  if (!/^\+?\d+$/.test(text)) throw notAnInteger(text)
  return Number(text)
}

function parseValue(text: string, { low, names = [] }: FieldRange): number {
  if (/^\d+$/.test(text)) return Number(text)
  const index = names.indexOf(text.toLowerCase())
  if (index < 0) throw notAnInteger(text)
  return low + index
}

const notAnInteger = (text: string): CronSyntaxError =>
  new CronSyntaxError(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
