import { goQuote } from '../schema/go-text.ts'

const RANGES: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
]
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])

/** What is wrong with a schedule, or nothing. */
export function cronError(schedule: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=(?<name>\S*)\s/.exec(schedule)?.groups?.['name']
  if (zone !== undefined && zone !== '' && !isTimeZone(zone)) {
    return `provided bad location ${zone}: unknown time zone ${zone}`
  }
  const text = schedule.replace(/^(?:CRON_)?TZ=\S+\s*/, '').trim()
  if (text.startsWith('@')) return descriptorError(text)
  const fields = text.split(/\s+/).filter(Boolean)
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    // What is between two commas may be nothing.
    const error = field
      .split(',')
      .filter(Boolean)
      .map((part) => partError(part, index))
      .find((found) => found !== undefined)
    if (error !== undefined) return error
  }
  return undefined
}

const DURATION = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/

function descriptorError(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  const duration = text.slice('@every '.length)
  if (DURATION.test(duration)) return undefined
  return `failed to parse duration ${text}: time: invalid duration ${goQuote(duration)}`
}

function partError(part: string, index: number): string | undefined {
  const [low, high] = RANGES[index] ?? [0, 0]
  const [range = '', step, ...tooMany] = part.split('/')
  if (tooMany.length > 0) return `too many slashes: ${part}`
  const bounds = range.split('-')
  if (bounds.length > 2) return `too many hyphens: ${part}`
  let [start, end] = [low, high]
  // Where it begins with any, it does not matter where it ends.
  if (bounds[0] !== '*' && bounds[0] !== '?') {
    const numbers = bounds.map((bound) => valueOf(bound, index))
    const failed = numbers.find((number) => typeof number === 'string')
    if (typeof failed === 'string') return failed
    start = Number(numbers[0])
    end = bounds.length === 2 ? Number(numbers[1]) : step === undefined ? start : high
  }
  if (step !== undefined && /^-\d+$/.test(step)) return `negative number (${step}) not allowed: ${step}`
  if (step !== undefined && !/^\+?\d+$/.test(step)) return parseFailure(step)
  if (start < low) return `beginning of range (${start}) below minimum (${low}): ${part}`
  if (end > high) return `end of range (${end}) above maximum (${high}): ${part}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`
  return step !== undefined && Number(step) === 0 ? `step of range should be a positive number: ${part}` : undefined
}

const parseFailure = (text: string): string =>
  `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`

function valueOf(text: string, index: number): number | string {
  if (/^\d+$/.test(text)) return Number(text)
  const names = index === 3 ? MONTHS : index === 4 ? DAYS : []
  const found = names.indexOf(text.toLowerCase())
  return found < 0 ? parseFailure(text) : found + (index === 3 ? 1 : 0)
}

let zones: ReadonlyMap<string, string> | undefined

/** Made when first asked for: it takes a while. */
const knownZones = (): ReadonlyMap<string, string> =>
  (zones ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name])))

/** True for a time zone that the machine knows, in the letters it is written in. */
export function isTimeZone(name: string): boolean {
  const canonical = knownZones().get(name.toLowerCase())
  if (canonical !== undefined) return canonical === name
  // Of other names for a zone it is only known what all of them look like.
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}
