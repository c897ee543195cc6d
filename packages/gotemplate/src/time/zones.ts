/** Time zones by their IANA names. */

export interface ZoneOffset {
  /** The abbreviation, such as `CET`; empty if there is none. */
  readonly name: string
  /** Seconds east of UTC. */
  readonly offset: number
}

/** A fixed offset, or a zone whose offset depends on the time. */
export type Zone = ZoneOffset | string

const formats = new Map<string, Intl.DateTimeFormat>()

/** The formatter of a zone; undefined if there is no such zone. Only those that exist are kept: templates make up names. */
function formatOf(name: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(name)
  if (known) return known
  const format = createFormat(name)
  if (format) formats.set(name, format)
  return format
}

function createFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  // Go accepts no offsets as names, and names are case-sensitive files there.
  if (!/^[A-Z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/.test(timeZone)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', year: 'numeric' })
  } catch {
    return undefined
  }
}

export const isZone = (name: string): boolean => name === '' || name === 'UTC' || formatOf(name) !== undefined

/** The offset of a zone at a time in milliseconds. */
export function offsetAt(zone: Zone, milliseconds: number): ZoneOffset {
  if (typeof zone !== 'string') return zone
  if (zone === 'UTC' || zone === '') return { name: 'UTC', offset: 0 }
  const text = partOf(formatOf(zone), milliseconds)
  const {
    sign,
    hours = '0',
    minutes = '0',
    seconds = '0',
  } = /^GMT(?:(?<sign>[-+])(?<hours>\d{2}):(?<minutes>\d{2})(?::(?<seconds>\d{2}))?)?$/.exec(text)?.groups ?? {}
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  const offset = sign === '-' ? -size : size
  return { name: abbreviation(zone, milliseconds, offset), offset }
}

function partOf(format: Intl.DateTimeFormat | undefined, milliseconds: number): string {
  return format?.formatToParts(milliseconds).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
}

/** The locale in which the short name of a zone of this region is its usual abbreviation. */
const LOCALES: readonly (readonly [RegExp, string])[] = [
  [/^Europe\//, 'en-GB'],
  [/^Australia\//, 'en-AU'],
  [/^Asia\/(?:Kolkata|Calcutta)$/, 'en-IN'],
  [/^Africa\//, 'en-ZA'],
  [/^Pacific\/Auckland$/, 'en-NZ'],
  [/./, 'en-US'],
]

/** Abbreviations that no locale knows, by zone. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  'Asia/Tokyo': 'JST',
  'Asia/Seoul': 'KST',
  'Asia/Shanghai': 'CST',
  'Asia/Hong_Kong': 'HKT',
  'Asia/Manila': 'PST',
  'Asia/Karachi': 'PKT',
  'Asia/Jakarta': 'WIB',
  'Europe/Moscow': 'MSK',
  'Africa/Nairobi': 'EAT',
  'Africa/Lagos': 'WAT',
}

const names = new Map<string, Intl.DateTimeFormat>()

function abbreviation(zone: string, milliseconds: number, offset: number): string {
  // Only local mean time, before the first time zones, has offsets with seconds.
  if (offset % 60 !== 0) return 'LMT'
  const known = ABBREVIATIONS[zone]
  if (known !== undefined) return known
  const locale = LOCALES.find(([pattern]) => pattern.test(zone))?.[1] ?? 'en-US'
  let format = names.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: 'short' })
    names.set(zone, format)
  }
  const short = partOf(format, milliseconds)
  if (/^[A-Z]{2,5}$/.test(short)) return short
  const sign = offset < 0 ? '-' : '+'
  const minutes = Math.floor(Math.abs(offset) / 60)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  return `${sign}${hours}${rest === '00' ? '' : rest}`
}
