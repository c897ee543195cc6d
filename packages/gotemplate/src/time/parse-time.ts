/** Reads times by Go's layouts. */
import { quote } from '../format/quote.ts'
import { MONTHS, WEEKDAYS } from '../values/names.ts'
import type { Instant } from './civil.ts'
import { layoutParts } from './layouts.ts'
import { offsetAt } from './zones.ts'
import type { Zone } from './zones.ts'

/** Text that does not fit its layout, with Go's message. */
export class TimeProblem extends Error {}

interface Fields {
  year: number
  month: number | undefined
  day: number | undefined
  yearDay: number | undefined
  hour: number
  minute: number
  second: number
  nanosecond: number
  half: 'AM' | 'PM' | undefined
  offset: number | undefined
  zoneName: string
  isUtc: boolean
}

/** Times without a zone are in `local`. */
export function parseTime(layout: string, value: string, local: string): Instant {
  return new TimeReader(layout, value).read(local)
}

class TimeReader {
  readonly #layout: string
  readonly #value: string
  #rest: string
  readonly #fields: Fields = {
    year: 0,
    month: undefined,
    day: undefined,
    yearDay: undefined,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    half: undefined,
    offset: undefined,
    zoneName: '',
    isUtc: false,
  }

  constructor(layout: string, value: string) {
    this.#layout = layout
    this.#value = value
    this.#rest = value
  }

  read(local: string): Instant {
    const parts = layoutParts(this.#layout)
    for (const [index, { isElement, text }] of parts.entries()) {
      if (isElement) this.#element(text, parts[index + 1]?.text ?? '')
      else this.#literal(text)
    }
    if (this.#rest !== '') throw this.#problem(`: extra text: ${quote(this.#rest)}`)
    return this.#instant(local)
  }

  #problem(message: string): TimeProblem {
    return new TimeProblem(`parsing time ${quote(this.#value)}${message}`)
  }

  #mismatch(element: string, rest = this.#rest): TimeProblem {
    return this.#problem(` as ${quote(this.#layout)}: cannot parse ${quote(rest)} as ${quote(element)}`)
  }

  #literal(text: string): void {
    const failed = this.#mismatch(text)
    let prefix = text
    while (prefix !== '') {
      if (prefix.startsWith(' ')) {
        if (this.#rest !== '' && !this.#rest.startsWith(' ')) throw failed
        prefix = prefix.replace(/^ +/, '')
        this.#rest = this.#rest.replace(/^ +/, '')
        continue
      }
      if (this.#rest === '' || this.#rest[0] !== prefix[0]) throw this.#mismatch(text)
      prefix = prefix.slice(1)
      this.#rest = this.#rest.slice(1)
    }
  }

  /** Takes a number of digits. */
  #number(element: string, pattern: RegExp, min: number, max: number, name: string): number {
    const text = pattern.exec(this.#rest)?.[0]
    if (text === undefined) throw this.#mismatch(element)
    const value = Number(text.trim())
    this.#rest = this.#rest.slice(text.length)
    if (value < min || value > max) throw this.#problem(`: ${name} out of range`)
    return value
  }

  #name(element: string, names: readonly string[], length?: number): number {
    const index = names.findIndex((name) => {
      const wanted = length === undefined ? name : name.slice(0, length)
      return this.#rest.slice(0, wanted.length).toLowerCase() === wanted.toLowerCase()
    })
    if (index < 0) throw this.#mismatch(element)
    this.#rest = this.#rest.slice(length ?? names[index]?.length ?? 0)
    return index
  }

  #element(element: string, next: string): void {
    const fields = this.#fields
    switch (element) {
      case '2006':
        fields.year = this.#number(element, /^\d{4}/, 0, 9999, 'year')
        return
      case '06': {
        const year = this.#number(element, /^\d{2}/, 0, 99, 'year')
        fields.year = year >= 69 ? 1900 + year : 2000 + year
        return
      }
      case 'January':
        fields.month = this.#name(element, MONTHS) + 1
        return
      case 'Jan':
        fields.month = this.#name(element, MONTHS, 3) + 1
        return
      case '1':
      case '01':
        fields.month = this.#number(element, element === '1' ? /^\d{1,2}/ : /^\d{2}/, 1, 12, 'month')
        return
      case 'Monday':
        this.#name(element, WEEKDAYS)
        return
      case 'Mon':
        this.#name(element, WEEKDAYS, 3)
        return
      case '2':
      case '_2':
      case '02':
        fields.day = this.#number(
          element,
          element === '02' ? /^\d{2}/ : element === '_2' ? /^ ?\d{1,2}/ : /^\d{1,2}/,
          0,
          99,
          'day',
        )
        return
      case '__2':
      case '002':
        fields.yearDay = this.#number(element, /^[ \d]{2}\d/, 0, 999, 'day-of-year')
        return
      case '15':
        fields.hour = this.#number(element, /^\d{1,2}/, 0, 23, 'hour')
        return
      case '3':
      case '03':
        fields.hour = this.#number(element, element === '3' ? /^\d{1,2}/ : /^\d{2}/, 0, 12, 'hour')
        return
      case '4':
      case '04':
        fields.minute = this.#number(element, element === '4' ? /^\d{1,2}/ : /^\d{2}/, 0, 59, 'minute')
        return
      case '5':
      case '05':
        fields.second = this.#number(element, element === '5' ? /^\d{1,2}/ : /^\d{2}/, 0, 59, 'second')
        // A fraction may follow although the layout has none.
        if (!/^[.,][09]/.test(next)) this.#fraction(/^[.,]\d+/)
        return
      case 'PM':
      case 'pm': {
        const half = this.#rest.slice(0, 2)
        const [am, pm] = element === 'PM' ? ['AM', 'PM'] : ['am', 'pm']
        if (half !== am && half !== pm) throw this.#mismatch(element)
        fields.half = half === pm ? 'PM' : 'AM'
        this.#rest = this.#rest.slice(2)
        return
      }
      case 'MST':
        this.#zoneName(element)
        return
      default:
        if (/^[.,]/.test(element)) this.#fractionElement(element)
        else this.#offset(element)
    }
  }

  #fraction(pattern: RegExp): boolean {
    const text = pattern.exec(this.#rest)?.[0]
    if (text === undefined) return false
    this.#fields.nanosecond = Number(text.slice(1).padEnd(9, '0').slice(0, 9))
    this.#rest = this.#rest.slice(text.length)
    return true
  }

  #fractionElement(element: string): void {
    if (element.includes('9')) {
      this.#fraction(/^[.,]\d+/)
      return
    }
    if (!this.#fraction(new RegExp(`^[.,]\\d{${element.length - 1}}`))) throw this.#mismatch(element)
  }

  #zoneName(element: string): void {
    if (this.#rest.startsWith('UTC')) {
      this.#fields.isUtc = true
      this.#rest = this.#rest.slice(3)
      return
    }
    const name = /^(?:ChST|MeST|GMT(?:[-+]\d{1,2})?|[-+]\d{2}(?:\d{2})?|[A-Z]{4,5}(?<=T|WITA)|[A-Z]{3})/.exec(
      this.#rest,
    )?.[0]
    if (name === undefined) throw this.#mismatch(element)
    this.#fields.zoneName = name
    this.#rest = this.#rest.slice(name.length)
  }

  #offset(element: string): void {
    if (element.startsWith('Z') && this.#rest.startsWith('Z')) {
      this.#fields.isUtc = true
      this.#rest = this.#rest.slice(1)
      return
    }
    const colon = element.includes(':') ? ':' : ''
    const count = /^.07$/.test(element) ? 1 : /(?::00:00|0000)$/.test(element) ? 3 : 2
    const pattern = new RegExp(
      `^([-+])(\\d{2})${count > 1 ? `${colon}(\\d{2})` : ''}${count > 2 ? `${colon}(\\d{2})` : ''}`,
    )
    const [all, sign, hours = '0', minutes = '0', seconds = '0'] = pattern.exec(this.#rest) ?? []
    if (all === undefined) throw this.#mismatch(element)
    if (Number(hours) > 24 || Number(minutes) > 60 || Number(seconds) > 60)
      throw this.#problem(': time zone offset out of range')
    const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
    this.#fields.offset = sign === '-' ? -size : size
    this.#rest = this.#rest.slice(all.length)
  }

  #instant(local: string): Instant {
    const { year, half, minute, second, nanosecond, offset, zoneName, isUtc } = this.#fields
    let { month = 1, day = 1, hour } = this.#fields
    const { yearDay } = this.#fields
    if (yearDay !== undefined) {
      const date = new Date(Date.UTC(2000, 0, yearDay))
      date.setTime(wallTime(year, 1, yearDay, 0, 0, 0))
      if (yearDay < 1 || date.getUTCFullYear() !== year) throw this.#problem(': day-of-year out of range')
      month = date.getUTCMonth() + 1
      day = date.getUTCDate()
    }
    if (day < 1 || day > new Date(wallTime(year, month + 1, 0, 0, 0, 0)).getUTCDate()) {
      throw this.#problem(': day out of range')
    }
    if (half === 'PM' && hour < 12) hour += 12
    else if (half === 'AM' && hour === 12) hour = 0
    const wall = wallTime(year, month, day, hour, minute, second)
    const at = (milliseconds: number, zone: Zone): Instant => ({
      nanoseconds: BigInt(milliseconds) * 1_000_000n + BigInt(nanosecond),
      zone,
    })
    if (isUtc) return at(wall, 'UTC')
    if (offset !== undefined) {
      const time = wall - offset * 1000
      const here = offsetAt(local, time)
      const isLocal = here.offset === offset && (zoneName === '' || here.name === zoneName)
      return at(time, isLocal ? local : { name: zoneName, offset })
    }
    const time = fromWall(wall, local)
    if (zoneName === '' || offsetAt(local, time).name === zoneName) return at(time, local)
    const fake = /^GMT([-+]\d+)$/.exec(zoneName)?.[1]
    const seconds = fake === undefined ? 0 : Number(fake) * 3600
    return at(wall - seconds * 1000, { name: zoneName, offset: seconds })
  }
}

function wallTime(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  return date.getTime()
}

/** The time at which clocks of the zone show `wall`. */
function fromWall(wall: number, zone: string): number {
  const first = wall - offsetAt(zone, wall).offset * 1000
  return wall - offsetAt(zone, first).offset * 1000
}
