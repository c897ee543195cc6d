import { LRUCache } from 'lru-cache'

import { goQuote } from '../go-text.ts'
import { isDay } from './formats.ts'

/** Times as Go parses them, with Go's error texts. */

export class TimeError extends Error {}

const SECONDS = '2006-01-02T15:04:05Z07:00'
const MICROS = '2006-01-02T15:04:05.000000Z07:00'

/** Objects repeat the same few times: creation, and managedFields. */
const canonicalTimes = new LRUCache<string, string>({ max: 500 })

/** Formats a metav1.Time: RFC 3339 in UTC with seconds. */
export function canonicalTime(text: string): string {
  let time = canonicalTimes.get(text)
  if (time === undefined) {
    time = `${toUtc(text, false).slice(0, 19)}Z`
    canonicalTimes.set(text, time)
  }
  return time
}

/** Formats a metav1.MicroTime: with exactly six fractional digits. */
export function canonicalMicroTime(text: string): string {
  const utc = toUtc(text, true)
  const digits = /\.(\d{6})/.exec(text)?.[1] ?? '000000'
  return `${utc.slice(0, 19)}.${digits}Z`
}

function toUtc(text: string, isMicro: boolean): string {
  const layout = isMicro ? MICROS : SECONDS
  let rest = text
  const fail = (element: string): TimeError =>
    new TimeError(
      `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(rest)} as ${goQuote(element)}`,
    )
  const outOfRange = (what: string): TimeError => new TimeError(`parsing time ${goQuote(text)}: ${what} out of range`)
  const take = (pattern: RegExp, element: string): string => {
    const match = pattern.exec(rest)
    if (!match) throw fail(element)
    rest = rest.slice(match[0].length)
    return match[0]
  }
  const year = Number(take(/^\d{4}/, '2006'))
  take(/^-/, '-')
  const month = Number(take(/^\d\d/, '01'))
  if (month < 1 || month > 12) throw outOfRange('month')
  take(/^-/, '-')
  const day = Number(take(/^\d\d/, '02'))
  take(/^T/, 'T')
  const hour = Number(take(/^\d\d/, '15'))
  if (hour > 23) throw outOfRange('hour')
  take(/^:/, ':')
  const minute = Number(take(/^\d\d/, '04'))
  if (minute > 59) throw outOfRange('minute')
  take(/^:/, ':')
  const second = Number(take(/^\d\d/, '05'))
  if (second > 59) throw outOfRange('second')
  if (isMicro) take(/^[.,]\d{6}(?!\d)/, '.000000')
  else if (/^[.,]\d+/.test(rest)) take(/^[.,]\d+/, '')
  const zone = take(/^(Z|[+-]\d\d:\d\d)/, 'Z07:00')
  if (rest !== '') throw new TimeError(`parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`)
  if (!isDay(year, month, day)) throw outOfRange('day')
  const offset =
    zone === 'Z' ? 0 : (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)))
  const utc = new Date(0)
  utc.setUTCFullYear(year, month - 1, day)
  utc.setUTCHours(hour, minute - offset, second)
  return utc.toISOString()
}
