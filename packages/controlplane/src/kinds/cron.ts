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
  const text = schedule.replace(/^(?:CRON_)?TZ=\S+\s*/, '').trim()
  if (text.startsWith('@')) {
    if (DESCRIPTORS.has(text) || /^@every \S+$/.test(text)) return undefined
    return `unrecognized descriptor: ${text}`
  }
  const fields = text.split(/\s+/).filter(Boolean)
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries()) {
    const error = field
      .split(',')
      .map((part) => partError(part, index))
      .find((found) => found !== undefined)
    if (error !== undefined) return error
  }
  return undefined
}

function partError(part: string, index: number): string | undefined {
  const [low, high] = RANGES[index] ?? [0, 0]
  const [range = '', step, ...tooMany] = part.split('/')
  if (tooMany.length > 0) return `too many slashes: ${part}`
  const bounds = range.split('-')
  if (bounds.length > 2) return `too many hyphens: ${part}`
  let [start, end] = [low, high]
  if (range !== '*' && range !== '?') {
    const numbers = bounds.map((bound) => valueOf(bound, index))
    const failed = numbers.find((number) => typeof number === 'string')
    if (typeof failed === 'string') return failed
    start = Number(numbers[0])
    end = bounds.length === 2 ? Number(numbers[1]) : step === undefined ? start : high
  }
  if (step !== undefined && !/^\d+$/.test(step)) return parseFailure(step)
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

/** True for a time zone that the machine knows. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}
