import { TenureError } from '@tenure/kube'
import { ceilSecond, formatTime, isWritable, parseTimeOrDate } from '../api/time.ts'
import { parseTtl } from '../api/ttl.ts'

/** The length or the end of a lease, as a user gives it. */
export type Terms =
  /** `end` is the expiry of a lease that starts now. */
  | { readonly type: 'ttl'; readonly text: string; readonly milliseconds: number; readonly end: number }
  | { readonly type: 'forever'; readonly text: string }
  | { readonly type: 'time'; readonly text: string; readonly end: number }

/** A change of a lease that is refused: because of the given terms, or because of the object as it is. */
export class LeaseRefusal extends TenureError {
  readonly reason: 'terms' | 'object'

  constructor(reason: 'terms' | 'object', message: string) {
    super('TENURE_LEASE_TERMS', message)
    this.reason = reason
  }
}

/** Parses a TTL, a time or a date. Throws a LeaseRefusal with the reason. */
export function readTerms(text: string, now: number): Terms {
  const end = parseTimeOrDate(text.trim())
  if (end !== undefined) return { type: 'time', text: formatTime(ceilSecond(end)), end: ceilSecond(end) }
  const milliseconds = readTtl(text)
  if (milliseconds === 'forever') return { type: 'forever', text: 'forever' }
  const ttlEnd = ceilSecond(startOf(now) + milliseconds)
  if (!isWritable(ttlEnd)) throw invalidTerms('The lease would end after the year 9999: write forever instead.')
  return { type: 'ttl', text: text.trim(), milliseconds, end: ttlEnd }
}

/** Parses a TTL. Throws a LeaseRefusal with the reason. */
export function readTtl(text: string): number | 'forever' {
  const ttl = parseTtl(text)
  if (ttl.ok) return ttl.milliseconds
  throw invalidTerms(`Invalid TTL: ${ttl.reason}.`)
}

/** The start of a lease that is created now: the next whole second, because annotations have whole seconds. Never early. */
export function startOf(now: number): number {
  return ceilSecond(now)
}

export function invalidTerms(message: string): LeaseRefusal {
  return new LeaseRefusal('terms', message)
}

export function refused(message: string): LeaseRefusal {
  return new LeaseRefusal('object', message)
}
