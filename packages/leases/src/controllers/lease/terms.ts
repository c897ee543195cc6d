import type { KubeObject, Propagation, Stored } from '@tenure/kube'
import { type LeaseFamily, PROPAGATIONS, STATUS_ANNOTATIONS, USER_ANNOTATIONS } from '../../api/annotations.ts'
import { ceilSecond, floorSecond, isWritable, parseTime, parseTimeOrDate } from '../../api/time.ts'
import { parseTtl } from '../../api/ttl.ts'
import { type JobConfigReading, readJobConfig } from './cleanup/job-config.ts'

/** A lease with an expiry date. */
export interface DatedLease {
  readonly family: LeaseFamily
  readonly start: number
  /** Whole seconds, in milliseconds since 1970. */
  readonly expireAt: number
  readonly propagation: Propagation
  readonly job: JobConfigReading | undefined
}

/** The terms of a lease, as the user's annotations state them. */
export type LeaseTerms =
  | { readonly state: 'invalid'; readonly reason: string; readonly job: undefined }
  | { readonly state: 'forever'; readonly job: JobConfigReading | undefined }
  | ({
      readonly state: 'dated'
      /** Why the lease starts now; undefined if its start stays. */
      readonly newStart: 'added-later' | 'missing' | 'reset' | 'rolled-back' | undefined
      readonly isByAge: boolean
      /** Whether the lease runs from a start annotation, now or after this write. */
      readonly extended: boolean
    } & Omit<DatedLease, 'family'>)

/** A TTL without a date on an object older than this was added after the creation. */
const ADDED_LATER_AFTER_MS = 10_000

/** The reason for a lease whose expiry cannot be represented. */
export const TOO_LATE_REASON = 'the lease would end after the year 9999; write ttl: forever instead'

export function isLeased(annotations: Readonly<Record<string, string>>, { prefix }: LeaseFamily): boolean {
  return (
    annotations[prefix + USER_ANNOTATIONS.ttl] !== undefined ||
    annotations[prefix + USER_ANNOTATIONS.expires] !== undefined
  )
}

export function readTerms(
  object: Stored<KubeObject>,
  family: LeaseFamily,
  namespaced: boolean,
  now: number,
): LeaseTerms {
  const annotations = object.metadata.annotations ?? {}
  const ttlText = annotations[family.prefix + USER_ANNOTATIONS.ttl]
  const expiresText = annotations[family.prefix + USER_ANNOTATIONS.expires]
  const propagation = propagationOf(annotations[family.prefix + USER_ANNOTATIONS.propagation])
  const job = readJobConfig(annotations, family, namespaced)
  if (ttlText !== undefined && expiresText !== undefined)
    return invalid('both ttl and expires are set; keep one of them')
  if (!propagation) return invalid(`propagation must be ${PROPAGATIONS.join(', ')}`)
  const creation = parseTime(object.metadata.creationTimestamp) ?? 0
  const given = parseTime(annotations[family.prefix + family.start] ?? '')
  if (expiresText !== undefined) {
    const end = parseTimeOrDate(expiresText.trim())
    if (end === undefined)
      return invalid('expires must be a time such as 2026-06-11T20:48:11Z, or a date such as 2026-06-11')
    if (!isWritable(ceilSecond(end))) return invalid(TOO_LATE_REASON)
    const start = Math.min(given ?? creation, end)
    return {
      state: 'dated',
      start,
      expireAt: ceilSecond(end),
      newStart: undefined,
      isByAge: false,
      extended: false,
      propagation,
      job,
    }
  }
  const ttl = parseTtl(ttlText ?? '')
  if (!ttl.ok) return invalid(ttl.reason)
  if (ttl.milliseconds === 'forever') return { state: 'forever', job }
  const newStart = given === undefined ? newStartOf(annotations, family, now - creation) : undefined
  const start = given ?? (newStart === undefined ? creation : Math.max(floorSecond(now), creation))
  const expireAt = ceilSecond(start + ttl.milliseconds)
  if (!isWritable(expireAt)) return invalid(TOO_LATE_REASON)
  const extended = given !== undefined || newStart !== undefined
  const isDated = annotations[family.prefix + STATUS_ANNOTATIONS.expireAt] !== undefined
  const isByAge = given === undefined && newStart === undefined && !isDated
  return { state: 'dated', start, expireAt, newStart, isByAge, extended, propagation, job }
}

/** The terms of a restored lease, as if it started now. A past `expires` needs a new time from the user. */
export function restartedTerms(
  object: Stored<KubeObject>,
  family: LeaseFamily,
  namespaced: boolean,
  now: number,
): LeaseTerms {
  const terms = readTerms(object, family, namespaced, now)
  if (terms.state !== 'dated' || terms.newStart !== undefined) return terms
  if (object.metadata.annotations?.[family.prefix + USER_ANNOTATIONS.expires] !== undefined)
    return invalid('expires had passed when it came back with an earlier description of the object; write a new time')
  const start = floorSecond(now)
  const expireAt = ceilSecond(start + terms.expireAt - terms.start)
  return { ...terms, start, expireAt, newStart: 'rolled-back', isByAge: false, extended: true }
}

function invalid(reason: string): LeaseTerms {
  return { state: 'invalid', reason, job: undefined }
}

/** Why the lease starts now; undefined if it runs from the object's creation. */
function newStartOf(
  annotations: Readonly<Record<string, string>>,
  { prefix, start }: LeaseFamily,
  age: number,
): 'added-later' | 'missing' | 'reset' | undefined {
  if (annotations[prefix + start] !== undefined) return 'reset'
  if (start === 'lease-start') return 'missing'
  // The lease ran from a start annotation; its removal restarts the lease.
  if (annotations[prefix + STATUS_ANNOTATIONS.basis] !== undefined) return 'missing'
  return age > ADDED_LATER_AFTER_MS && annotations[prefix + STATUS_ANNOTATIONS.expireAt] === undefined
    ? 'added-later'
    : undefined
}

function propagationOf(text: string | undefined): Propagation | undefined {
  if (text === undefined) return 'Background'
  return PROPAGATIONS.find((propagation) => propagation.toLowerCase() === text.trim().toLowerCase())
}
