/** Go's time layouts: formats are written as a reference time would look. */
import { MONTHS, WEEKDAYS } from '../values/names.ts'
import { civilOf } from './civil.ts'
import type { Civil, Instant } from './civil.ts'
import type { ZoneOffset } from './zones.ts'

const ELEMENT =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|3|4|5|PM|pm|[-Z]07(?::00:00|0000|:00|00)?|[.,](?:0+|9+)(?!\d)/g

export interface LayoutPart {
  /** Literal text, or an element of the reference time. */
  readonly isElement: boolean
  readonly text: string
}

const layouts = new Map<string, readonly LayoutPart[]>()
const MAX_CACHED_LAYOUTS = 200

export function layoutParts(layout: string): readonly LayoutPart[] {
  const known = layouts.get(layout)
  if (known) return known
  const parts: LayoutPart[] = []
  let at = 0
  for (const { 0: text, index } of layout.matchAll(ELEMENT)) {
    if (index > at) parts.push({ isElement: false, text: layout.slice(at, index) })
    parts.push({ isElement: true, text })
    at = index + text.length
  }
  if (at < layout.length) parts.push({ isElement: false, text: layout.slice(at) })
  if (layouts.size >= MAX_CACHED_LAYOUTS) layouts.clear()
  layouts.set(layout, parts)
  return parts
}

export function formatTime(instant: Instant, layout: string): string {
  const civil = civilOf(instant)
  return layoutParts(layout)
    .map(({ isElement, text }) => (isElement ? element(text, civil) : text))
    .join('')
}

const two = (value: number): string => String(value).padStart(2, '0')

function element(name: string, civil: Civil): string {
  switch (name) {
    case '2006':
      return civil.year < 0 ? `-${String(-civil.year).padStart(4, '0')}` : String(civil.year).padStart(4, '0')
    case '06':
      return two(((civil.year % 100) + 100) % 100)
    case 'January':
      return MONTHS[civil.month - 1] ?? ''
    case 'Jan':
      return (MONTHS[civil.month - 1] ?? '').slice(0, 3)
    case '1':
      return String(civil.month)
    case '01':
      return two(civil.month)
    case 'Monday':
      return WEEKDAYS[civil.weekday] ?? ''
    case 'Mon':
      return (WEEKDAYS[civil.weekday] ?? '').slice(0, 3)
    case '2':
      return String(civil.day)
    case '_2':
      return String(civil.day).padStart(2)
    case '02':
      return two(civil.day)
    case '__2':
      return String(civil.yearDay).padStart(3)
    case '002':
      return String(civil.yearDay).padStart(3, '0')
    case '15':
      return two(civil.hour)
    case '3':
      return String(civil.hour % 12 || 12)
    case '03':
      return two(civil.hour % 12 || 12)
    case '4':
      return String(civil.minute)
    case '04':
      return two(civil.minute)
    case '5':
      return String(civil.second)
    case '05':
      return two(civil.second)
    case 'PM':
      return civil.hour >= 12 ? 'PM' : 'AM'
    case 'pm':
      return civil.hour >= 12 ? 'pm' : 'am'
    case 'MST':
      return zoneName(civil.zone)
    default:
      return /^[.,]/.test(name) ? fraction(name, civil.nanosecond) : offsetText(name, civil.zone.offset)
  }
}

function fraction(name: string, nanosecond: number): string {
  const digits = String(nanosecond)
    .padStart(9, '0')
    .slice(0, name.length - 1)
  if (name.includes('0')) return name.charAt(0) + digits.padEnd(name.length - 1, '0')
  const trimmed = digits.replace(/0+$/, '')
  return trimmed === '' ? '' : name.charAt(0) + trimmed
}

function zoneName({ name, offset }: ZoneOffset): string {
  if (name !== '') return name
  const minutes = Math.trunc(Math.abs(offset) / 60)
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

function offsetText(name: string, offset: number): string {
  if (name.startsWith('Z') && offset === 0) return 'Z'
  const size = Math.abs(offset)
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60].map(two)
  const count = /^.07$/.test(name) ? 1 : /(?::00:00|0000)$/.test(name) ? 3 : 2
  return (offset < 0 ? '-' : '+') + parts.slice(0, count).join(name.includes(':') ? ':' : '')
}
