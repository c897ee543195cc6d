import type { CronFields } from './cron-expression.ts'
import { parseCron } from './cron-expression.ts'

const MINUTE_MS = 60_000
/** How far ahead `next` searches: 29 February recurs within eight years. */
const SEARCH_DAYS = 9 * 366

/** The times at which a CronJob is due, in a time zone. */
export class CronSchedule {
  readonly #fields: CronFields
  readonly #format: Intl.DateTimeFormat

  /** Throws a RangeError if the schedule or the time zone is invalid. The default time zone is UTC. */
  constructor(schedule: string, timeZone = 'UTC') {
    const expression = parseCron(schedule)
    if ('error' in expression) throw new RangeError(expression.error)
    if ('every' in expression) {
      const words = schedule.trim().split(/\s+/)
      throw new RangeError(`expected exactly 5 fields, found ${words.length}: [${schedule.trim()}]`)
    }
    if (expression.fields.some(({ values }) => values.size === 0)) {
      throw new RangeError('a field of the schedule selects no value')
    }
    this.#fields = expression.fields
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

  /** Returns the first time after `after`, in milliseconds, or undefined if the search finds none. */
  next(after: number): number | undefined {
    const [minutes, hours] = this.#fields
    let at = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS
    const end = after + SEARCH_DAYS * 24 * 60 * MINUTE_MS
    while (at < end) {
      const local = this.#local(at)
      if (!this.#matchesDay(local)) {
        // Skip to local midnight, in steps of at most an hour near it because some days have 23 or 25 hours.
        const left = 24 * 60 - (local.hour * 60 + local.minute)
        at += (left > 120 ? left - 60 : Math.min(left, 60 - local.minute)) * MINUTE_MS
      } else if (!hours.values.has(local.hour)) at += (60 - local.minute) * MINUTE_MS
      else if (minutes.values.has(local.minute)) return at
      else at += MINUTE_MS
    }
    return undefined
  }

  #matchesDay(local: LocalTime): boolean {
    const [, , days, months, weekdays] = this.#fields
    if (!months.values.has(local.month)) return false
    const isDay = days.values.has(local.day)
    const isWeekday = weekdays.values.has(local.weekday)
    // If both fields are restricted, one match suffices.
    return days.isAny || weekdays.isAny ? isDay && isWeekday : isDay || isWeekday
  }

  #local(at: number): LocalTime {
    const parts = new Map(this.#format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const date = new Date(Date.UTC(of('year'), of('month') - 1, of('day')))
    return { month: of('month'), day: of('day'), weekday: date.getUTCDay(), hour: of('hour'), minute: of('minute') }
  }
}

interface LocalTime {
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}
