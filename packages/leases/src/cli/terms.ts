import { TenureError } from '@tenure/kube'
import { ceilSecond, formatTime, isWritable, parseTimeOrDate } from '../api/time.ts'
import { parseTtl } from '../api/ttl.ts'

/** What somebody wrote for the length or the end of a lease. */
export type Terms =
  /** `end` is when it would end, started now. */
  | { readonly type: 'ttl'; readonly text: string; readonly milliseconds: number; readonly end: number }
  | { readonly type: 'forever'; readonly text: string }
  | { readonly type: 'time'; readonly text: string; readonly end: number }

/** Reads a TTL, a time or a date. Throws `TENURE_LEASE_TERMS` with the reason. */
export function readTerms(text: string, now: number): Terms {
  const end = parseTimeOrDate(text.trim())
  if (end !== undefined) return { type: 'time', text: formatTime(ceilSecond(end)), end: ceilSecond(end) }
  const ttl = parseTtl(text)
  if (!ttl.ok) throw refused(`Invalid TTL: ${ttl.reason}.`)
  if (ttl.milliseconds === 'forever') return { type: 'forever', text: 'forever' }
  const ttlEnd = ceilSecond(startOf(now) + ttl.milliseconds)
  if (!isWritable(ttlEnd)) throw refused('The lease would end after the year 9999: write forever instead.')
  return { type: 'ttl', text: text.trim(), milliseconds: ttl.milliseconds, end: ttlEnd }
}

/** When a lease that is made now starts: the next whole second, as annotations have no finer ones. Never early. */
export function startOf(now: number): number {
  return ceilSecond(now)
}

export function refused(message: string): TenureError {
  return new TenureError('TENURE_LEASE_TERMS', message)
}
