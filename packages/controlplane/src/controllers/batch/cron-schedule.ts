const RANGES: readonly (readonly [low: number, high: number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
]
const NAMES: Readonly<Record<number, readonly string[]>> = {
  3: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  4: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
}
const SHORTHANDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const MINUTE = 60_000
/** Further ahead nothing is looked for: 29 February comes within eight years. */
const FARTHEST = 9 * 366

/** When a CronJob is due, in a time zone. */
export class CronSchedule {
  readonly #fields: readonly ReadonlySet<number>[]
  readonly #isAnyDay: boolean
  readonly #isAnyWeekday: boolean
  readonly #format: Intl.DateTimeFormat

  /** Throws if the schedule or the zone can not be read. The default zone is UTC. */
  constructor(schedule: string, timeZone = 'UTC') {
    const text = schedule.trim()
    const known = Object.hasOwn(SHORTHANDS, text) ? (SHORTHANDS[text] ?? '') : text
    const fields = known.split(/\s+/)
    if (fields.length !== 5) throw new RangeError(`expected exactly 5 fields, found ${fields.length}: [${known}]`)
    this.#fields = fields.map(valuesOf)
    this.#isAnyDay = /^[*?]/.test(fields[2] ?? '')
    this.#isAnyWeekday = /^[*?]/.test(fields[4] ?? '')
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  }

  /** The first time after `after`, in milliseconds; undefined if there is none within years. */
  next(after: number): number | undefined {
    let at = Math.floor(after / MINUTE) * MINUTE + MINUTE
    const end = after + FARTHEST * 24 * 60 * MINUTE
    while (at < end) {
      const local = this.#local(at)
      if (!this.#matchesDay(local)) {
        // To the next midnight there; an hour at a time near it, as days are not all equally long.
        const left = 24 * 60 - (local.hour * 60 + local.minute)
        at += (left > 120 ? left - 60 : Math.min(left, 60 - local.minute)) * MINUTE
      } else if (!this.#fields[1]?.has(local.hour)) at += (60 - local.minute) * MINUTE
      else if (this.#fields[0]?.has(local.minute)) return at
      else at += MINUTE
    }
    return undefined
  }

  #matchesDay({ day, month, weekday }: Local): boolean {
    if (!this.#fields[3]?.has(month)) return false
    const isDay = this.#fields[2]?.has(day) ?? false
    const isWeekday = this.#fields[4]?.has(weekday) ?? false
    // If both are given, either will do.
    return this.#isAnyDay || this.#isAnyWeekday ? isDay && isWeekday : isDay || isWeekday
  }

  #local(at: number): Local {
    const parts = new Map(this.#format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const date = new Date(Date.UTC(of('year'), of('month') - 1, of('day')))
    return { month: of('month'), day: of('day'), weekday: date.getUTCDay(), hour: of('hour'), minute: of('minute') }
  }
}

interface Local {
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

function valuesOf(field: string, index: number): ReadonlySet<number> {
  const [low, high] = RANGES[index] ?? [0, 0]
  const values = new Set<number>()
  for (const part of field.split(',')) {
    const [range = '', step] = part.split('/')
    const bounds = range === '*' || range === '?' ? [low, high] : range.split('-').map((text) => valueOf(text, index))
    const [first = NaN] = bounds
    const last = bounds[1] ?? (step === undefined ? first : high)
    const by = step === undefined ? 1 : Number(step)
    if (!(first >= low && last <= high && first <= last && by >= 1))
      throw new RangeError(`${part} is no part of a schedule`)
    for (let value = first; value <= last; value += by) values.add(value)
  }
  return values
}

function valueOf(text: string, index: number): number {
  if (/^\d+$/.test(text)) return Number(text)
  const found = NAMES[index]?.indexOf(text.toLowerCase()) ?? -1
  return text === '' || found < 0 ? NaN : found
}
