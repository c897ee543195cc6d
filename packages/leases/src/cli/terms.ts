import { TenureError } from '@tenure/kube'
import { ceilSecond, formatTime, isWritable, parseTimeOrDate } from '../api/time.ts'
import { parseTtl } from '../api/ttl.ts'

/** The length or the end of a lease, as given on the command line. */
export type Terms =
  /** `end` is the expiry of a lease that starts now. */
  | { readonly type: 'ttl'; readonly text: string; readonly milliseconds: number; readonly end: number }
  | { readonly type: 'forever'; readonly text: string }
  | { readonly type: 'time'; readonly text: string; readonly end: number }

/** Parses a TTL, a time or a date. Throws `TENURE_LEASE_TERMS` with the reason. */
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

/** The start of a lease that is created now: the next whole second, because annotations have whole seconds. Never early. */
export function startOf(now: number): number {
  return ceilSecond(now)
}

export function refused(message: string): TenureError {
  return new TenureError('TENURE_LEASE_TERMS', message)
}
