import type { KubeObject, Propagation, Stored } from '@tenure/kube'
import { type LeaseFamily, PROPAGATIONS } from '../../api/annotations.ts'
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

/**
 * Why a start is written. `outlived`: the lease ended before the object was created, so it starts at the creation. All
 * others start now.
 */
export type NewStart = 'added-later' | 'missing' | 'reset' | 'rolled-back' | 'renewed' | 'outlived'

/** The terms of a lease, as the user's annotations state them. */
export type LeaseTerms =
  | { readonly state: 'invalid'; readonly reason: string; readonly job: undefined }
  | { readonly state: 'forever'; readonly job: JobConfigReading | undefined }
  | ({
      readonly state: 'dated'
      /** Why a start is written; undefined if the start stays. */
      readonly newStart: NewStart | undefined
      readonly isByAge: boolean
      /** Whether the lease runs from a start annotation, now or after this write. */
      readonly extended: boolean
      /** Whether an update of the object starts the lease again. */
      readonly followsUpdates: boolean
    } & Omit<DatedLease, 'family'>)

/** A TTL without a date on an object older than this was added after the creation. */
const ADDED_LATER_AFTER_MS = 10_000

/** The reason for a lease whose expiry cannot be represented. */
export const TOO_LATE_REASON = 'the lease would end after the year 9999; write ttl: forever instead'

/** The reason for an invalid `renew-on`. */
export const RENEW_ON_REASON = 'renew-on must be update'

/** Whether this is a valid `renew-on`. */
export function isRenewOn(text: string | undefined): boolean {
  return text === undefined || text.trim().toLowerCase() === 'update'
}

/** The last time, in milliseconds since 1970, at which an object without a date still looks new. */
export function ageLimit({ metadata }: Stored<KubeObject>): number {
  return (parseTime(metadata.creationTimestamp) ?? 0) + ADDED_LATER_AFTER_MS
}

export function isLeased(annotations: Readonly<Record<string, string>>, { names }: LeaseFamily): boolean {
  return annotations[names.ttl] !== undefined || annotations[names.expires] !== undefined
}

export function readTerms(
  object: Stored<KubeObject>,
  family: LeaseFamily,
  namespaced: boolean,
  now: number,
): LeaseTerms {
  const annotations = object.metadata.annotations ?? {}
  const { names } = family
  const ttlText = annotations[names.ttl]
  const expiresText = annotations[names.expires]
  const propagation = propagationOf(annotations[names.propagation])
  if (ttlText !== undefined && expiresText !== undefined)
    return invalid('both ttl and expires are set; keep one of them')
  if (!propagation) return invalid(`propagation must be ${PROPAGATIONS.join(', ')}`)
  if (!isRenewOn(annotations[names.renewOn])) return invalid(RENEW_ON_REASON)
  const job = readJobConfig(annotations, family, namespaced)
  const dates =
    expiresText === undefined ? ttlDates(object, family, ttlText ?? '', now) : fixedDates(object, family, expiresText)
  if (typeof dates === 'string') return invalid(dates)
  return dates ? { state: 'dated', ...dates, propagation, job } : { state: 'forever', job }
}

type Dates = Omit<Extract<LeaseTerms, { readonly state: 'dated' }>, 'state' | 'propagation' | 'job'>

/** The dates of a lease with `expires`, or the reason why it is invalid. */
function fixedDates({ metadata }: Stored<KubeObject>, { names }: LeaseFamily, text: string): Dates | string {
  const end = parseTimeOrDate(text.trim())
  if (end === undefined) return 'expires must be a time such as 2026-06-11T20:48:11Z, or a date such as 2026-06-11'
  const expireAt = ceilSecond(end)
  if (!isWritable(expireAt)) return TOO_LATE_REASON
  const creation = parseTime(metadata.creationTimestamp) ?? 0
  // The date was meant for an earlier object, for example in a backup or in a copied manifest.
  if (expireAt <= creation) return `expires is not after the object's creation; write a later time`
  const given = parseTime(metadata.annotations?.[names.start] ?? '')
  return {
    start: Math.min(given ?? creation, end),
    expireAt,
    newStart: undefined,
    isByAge: false,
    extended: false,
    followsUpdates: false,
  }
}

/** The dates of a lease with `ttl`, or the reason why it is invalid; undefined if it never expires. */
function ttlDates(
  object: Stored<KubeObject>,
  family: LeaseFamily,
  text: string,
  now: number,
): Dates | string | undefined {
  const ttl = parseTtl(text)
  if (!ttl.ok) return ttl.reason
  if (ttl.milliseconds === 'forever') return undefined
  const { annotations = {}, creationTimestamp, generation = 0 } = object.metadata
  const { names } = family
  const creation = parseTime(creationTimestamp) ?? 0
  const given = parseTime(annotations[names.start] ?? '')
  const isDated = annotations[names.expireAt] !== undefined
  const followsUpdates = annotations[names.renewOn] !== undefined && generation > 0
  let newStart: NewStart | undefined = given === undefined ? newStartOf(annotations, family, now - creation) : undefined
  let start = given ?? (newStart === undefined ? creation : Math.max(floorSecond(now), creation))
  if (given !== undefined && given < creation && given + ttl.milliseconds <= creation) {
    newStart = 'outlived'
    start = creation
  }
  if (followsUpdates && newStart === undefined) {
    const observed = annotations[names.generation]
    // Without a record an update may have been missed, so that a lease that is over gets the benefit of the doubt.
    const isUpdated =
      observed === undefined ? isDated && start + ttl.milliseconds <= now : observed !== String(generation)
    const renewed = Math.max(floorSecond(now), creation)
    // A user may have chosen a later start, which a renewal must not shorten.
    if (isUpdated && renewed > start) {
      newStart = 'renewed'
      start = renewed
    }
  }
  const expireAt = ceilSecond(start + ttl.milliseconds)
  if (!isWritable(expireAt)) return TOO_LATE_REASON
  return {
    start,
    expireAt,
    newStart,
    isByAge: given === undefined && newStart === undefined && !isDated,
    extended: given !== undefined || newStart !== undefined,
    followsUpdates,
  }
}

/** The terms of a restored lease, as if it started now. A past `expires` needs a new time from the user. */
export function restartedTerms(
  object: Stored<KubeObject>,
  family: LeaseFamily,
  namespaced: boolean,
  now: number,
): LeaseTerms {
  const terms = readTerms(object, family, namespaced, now)
  if (terms.state !== 'dated' || startsNow(terms)) return terms
  if (object.metadata.annotations?.[family.names.expires] !== undefined)
    return invalid('expires had passed when it came back with an earlier description of the object; write a new time')
  const start = floorSecond(now)
  const expireAt = ceilSecond(start + terms.expireAt - terms.start)
  return { ...terms, start, expireAt, newStart: 'rolled-back', isByAge: false, extended: true }
}

/** Whether the lease starts now. */
export function startsNow({ newStart }: { readonly newStart: NewStart | undefined }): boolean {
  return newStart !== undefined && newStart !== 'outlived'
}

function invalid(reason: string): LeaseTerms {
  return { state: 'invalid', reason, job: undefined }
}

/** Why a lease without a valid start starts now; undefined if it runs from the object's creation. */
function newStartOf(
  annotations: Readonly<Record<string, string>>,
  { names, start }: LeaseFamily,
  age: number,
): 'added-later' | 'missing' | 'reset' | undefined {
  if (annotations[names.start] !== undefined) return 'reset'
  if (start === 'lease-start') return 'missing'
  // The lease ran from a start annotation; its removal restarts the lease.
  if (annotations[names.basis] !== undefined) return 'missing'
  return age > ADDED_LATER_AFTER_MS && annotations[names.expireAt] === undefined ? 'added-later' : undefined
}

function propagationOf(text: string | undefined): Propagation | undefined {
  if (text === undefined) return 'Background'
  return PROPAGATIONS.find((propagation) => propagation.toLowerCase() === text.trim().toLowerCase())
}
