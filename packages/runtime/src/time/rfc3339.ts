const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
/** Without leap days. */
const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** A time in the format of Kubernetes: whole seconds, UTC. */
export function rfc3339(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

/**
 * Parses an RFC 3339 time into milliseconds since 1970, rounded up; undefined if it is invalid. `Date.parse` accepts
 * more formats, and reads some of them in the machine's time zone.
 */
export function parseTime(text: string): number | undefined {
  return wholeSeconds(text) ?? parseAny(text)
}

/** `2026-06-11T21:48:11Z`, as Kubernetes writes times: caches parse many of them. Undefined for every other format. */
function wholeSeconds(text: string): number | undefined {
  if (text.length !== 20 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T') return undefined
  if (text[13] !== ':' || text[16] !== ':' || text[19] !== 'Z') return undefined
  const hours = twoDigits(text, 11)
  const minutes = twoDigits(text, 14)
  const seconds = twoDigits(text, 17)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  // Date.UTC would read the year 26 as 1926.
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  if (!(year >= 100 && day >= 1 && day <= (DAYS_OF_MONTHS[month - 1] ?? 0))) return undefined
  if (!(hours <= 23 && minutes <= 59 && seconds <= 59)) return undefined
  return Date.UTC(year, month - 1, day, hours, minutes, seconds)
}

/** NaN if they are not digits. */
function twoDigits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - 48, text.charCodeAt(at + 1) - 48]
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

function parseAny(text: string): number | undefined {
  const match = RFC3339.exec(text)
  if (!match) return undefined
  const [hours, minutes, seconds] = [Number(match[4]), Number(match[5]), Number(match[6])]
  const day = dayOf(match)
  if (day === undefined || hours > 23 || minutes > 59 || seconds > 59) return undefined
  const [, , , , , , , fraction = '', sign, zoneHours, zoneMinutes] = match
  if (Number(zoneHours ?? 0) > 23 || Number(zoneMinutes ?? 0) > 59) return undefined
  const zone = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * (sign === '-' ? -60_000 : 60_000)
  const milliseconds = fraction === '' ? 0 : Math.ceil(Number(`0.${fraction}`) * 1_000)
  return day + ((hours * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds - zone
}

/** Parses a time, or a date as its midnight in UTC. */
export function parseTimeOrDate(text: string): number | undefined {
  const match = DATE.exec(text)
  return match ? dayOf(match) : parseTime(text)
}

function dayOf(match: RegExpExecArray): number | undefined {
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const date = new Date(0)
  // Date.UTC would read the year 26 as 1926.
  date.setUTCFullYear(year, month - 1, day)
  // An invalid day, such as February 30th, rolls over into the next month.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

/** Rounds up to whole seconds, so that no deadline comes early. */
export function ceilSecond(milliseconds: number): number {
  return Math.ceil(milliseconds / 1_000) * 1_000
}

export function floorSecond(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000) * 1_000
}
