import type { KubeObject, Propagation, Stored } from '@tenure/kube'
import type { EventContent } from '@tenure/runtime'
import { USER_ANNOTATIONS, STATUS_ANNOTATIONS, type LeaseFamily, PROPAGATIONS } from '../../api/annotations.ts'
import { EVENT_REASONS } from '../../api/reasons.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { type JobConfigReading, readJobConfig } from './cleanup/job-config.ts'
import { readRecord } from './cleanup/record.ts'
import { hasInheritedAnnotations } from './inherited-annotations.ts'
import { ceilSecond, floorSecond, formatTime, isWritable, parseTime, parseTimeOrDate } from '../../api/time.ts'
import { parseTtl } from '../../api/ttl.ts'
import { warningsAbout } from './warnings.ts'

/** Annotations to set, or to remove if null. */
export type Changes = Readonly<Record<string, string | null>>

/** A lease with an expiry date. */
export interface DatedLease {
  readonly family: LeaseFamily
  readonly start: number
  /** Whole seconds, in milliseconds since 1970. */
  readonly expireAt: number
  readonly propagation: Propagation
  readonly job: JobConfigReading | undefined
}

export interface LeasePlan {
  /** Undefined if the object has no lease, or one that is invalid or never expires. */
  readonly lease: DatedLease | undefined
  /** Annotations to write. Empty if the object is up to date. */
  readonly changes: Changes
  /** The plan depends on `now`: it must be made again with the server's time before it is carried out. */
  readonly startsNow: boolean
  /** The lease runs from the creation because the object looks new, which is true only if `now` is accurate. */
  readonly isByAge: boolean
  /** A lease starts with this write. */
  readonly started: boolean
  /** This write reports an invalid TTL. */
  readonly invalid: boolean
  /** Events to record after the write. */
  readonly events: readonly EventContent[]
}

/** A TTL without a date on an object older than this was added after the creation. */
const ADDED_LATER_AFTER_MS = 10_000

export const EXPIRED = 'Lease expired.'
export const DELETING = `${EXPIRED} Deleting object.`
export const DRY_RUN = `${EXPIRED} Dry run: object is kept.`

/** The reason for a lease whose expiry cannot be represented. */
export const TOO_LATE_REASON = 'the lease would end after the year 9999; write ttl: forever instead'

const NOTHING: LeasePlan = {
  lease: undefined,
  changes: {},
  startsNow: false,
  isByAge: false,
  started: false,
  invalid: false,
  events: [],
}

/**
 * Plans the annotations of an object from those that its user wrote. Pure: `now` is milliseconds since 1970;
 * `isRolledBack` means that a rollback restored the lease (see `RollbackGuard`).
 */
export function planLease(
  object: Stored<KubeObject>,
  settings: Pick<LeaseSettings, 'families'>,
  namespaced: boolean,
  now: number,
  isRolledBack = false,
): LeasePlan {
  const { annotations, deletionTimestamp } = object.metadata
  if (!annotations || deletionTimestamp !== undefined || hasInheritedAnnotations(object)) return NOTHING
  const family = settings.families.find((each) => isLeased(annotations, each))
  const desired: Record<string, string | null> = {}
  for (const other of settings.families) if (other !== family) removeStatus(desired, annotations, other)
  if (!family) return withoutLease(annotations, desired)
  const terms = isRolledBack
    ? restartedTerms(object, family, namespaced, now)
    : readTerms(object, family, namespaced, now)
  const warnings = warningsAbout(annotations, settings.families, family, terms.job)
  desireStatus(desired, annotations, family, terms, warnings, now)
  const changes = difference(annotations, desired)
  return { ...planOf(terms, family), changes, ...outcomeOf(annotations, family, terms, changes) }
}

/** Whether the lease of an object has expired at `now`, and its expiry date is written on it. */
export function isExpired(object: Stored<KubeObject>, plan: LeasePlan, now: number): boolean {
  const { lease } = plan
  if (!lease || lease.expireAt > now || object.metadata.deletionTimestamp !== undefined) return false
  return object.metadata.annotations?.[lease.family.prefix + STATUS_ANNOTATIONS.expireAt] === formatTime(lease.expireAt)
}

/** Whether everything that precedes the deletion is done. */
export function isReadyToDelete(object: Stored<KubeObject>, plan: LeasePlan): boolean {
  const { lease } = plan
  if (!lease) return false
  const { job, family, expireAt } = lease
  if (!job || (!job.ok && job.onFailure === 'delete')) return true
  const record = readRecord(
    object.metadata.annotations?.[family.prefix + STATUS_ANNOTATIONS.cleanup],
    formatTime(expireAt),
  )
  return job.ok && record?.state === 'done'
}

/** When to warn of the expiry; undefined if warnings are off. */
export function expiryWarningAt(
  { start, expireAt }: DatedLease,
  { fraction, atMost }: LeaseSettings['expiryWarning'],
): number | undefined {
  if (fraction <= 0) return undefined
  return expireAt - Math.min((expireAt - start) * fraction, atMost)
}

type Terms =
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

function isLeased(annotations: Readonly<Record<string, string>>, { prefix }: LeaseFamily): boolean {
  return (
    annotations[prefix + USER_ANNOTATIONS.ttl] !== undefined ||
    annotations[prefix + USER_ANNOTATIONS.expires] !== undefined
  )
}

/** Removes the status annotations of a family that does not count. User annotations stay while they define a lease. */
function removeStatus(
  desired: Record<string, string | null>,
  annotations: Readonly<Record<string, string>>,
  family: LeaseFamily,
): void {
  const { prefix } = family
  // Any of them means that a lease existed: its start, if left behind, would make the next lease expire at once.
  const names = Object.values(STATUS_ANNOTATIONS)
  if (!names.some((name) => annotations[prefix + name] !== undefined)) return
  for (const name of names) desired[prefix + name] = null
  if (!isLeased(annotations, family)) desired[prefix + family.start] = null
}

function withoutLease(
  annotations: Readonly<Record<string, string>>,
  desired: Record<string, string | null>,
): LeasePlan {
  const changes = difference(annotations, desired)
  if (Object.keys(changes).length === 0) return NOTHING
  const message = 'TTL removed; the object will not expire.'
  return { ...NOTHING, changes, events: [{ type: 'Normal', reason: EVENT_REASONS.cleaned, message }] }
}

function readTerms(object: Stored<KubeObject>, family: LeaseFamily, namespaced: boolean, now: number): Terms {
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
function restartedTerms(object: Stored<KubeObject>, family: LeaseFamily, namespaced: boolean, now: number): Terms {
  const terms = readTerms(object, family, namespaced, now)
  if (terms.state !== 'dated' || terms.newStart !== undefined) return terms
  if (object.metadata.annotations?.[family.prefix + USER_ANNOTATIONS.expires] !== undefined)
    return invalid('expires had passed when it came back with an earlier description of the object; write a new time')
  const start = floorSecond(now)
  const expireAt = ceilSecond(start + terms.expireAt - terms.start)
  return { ...terms, start, expireAt, newStart: 'rolled-back', isByAge: false, extended: true }
}

function invalid(reason: string): Terms {
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

/** The desired status annotations of the family that counts. */
function desireStatus(
  desired: Record<string, string | null>,
  annotations: Readonly<Record<string, string>>,
  { prefix, start: startName }: LeaseFamily,
  terms: Terms,
  warnings: readonly string[],
  now: number,
): void {
  const withWarnings = (text: string): string => [text, ...warnings.map((warning) => `Warning: ${warning}`)].join(' ')
  desired[prefix + STATUS_ANNOTATIONS.basis] = null
  desired[prefix + STATUS_ANNOTATIONS.cleanup] = null
  desired[prefix + STATUS_ANNOTATIONS.expireAt] = null
  switch (terms.state) {
    case 'invalid':
      desired[prefix + STATUS_ANNOTATIONS.status] = withWarnings(`Invalid TTL: ${terms.reason}`)
      return
    case 'forever':
      desired[prefix + STATUS_ANNOTATIONS.status] = withWarnings('Lease active. Never expires.')
      return
    case 'dated': {
      const expireAt = formatTime(terms.expireAt)
      desired[prefix + STATUS_ANNOTATIONS.expireAt] = expireAt
      if (terms.newStart !== undefined) desired[prefix + startName] = formatTime(terms.start)
      if (terms.extended && startName === 'extended-at') desired[prefix + STATUS_ANNOTATIONS.basis] = startName
      desired[prefix + STATUS_ANNOTATIONS.status] = withWarnings(`Lease active. Expires at ${expireAt} UTC.`)
      const record = annotations[prefix + STATUS_ANNOTATIONS.cleanup]
      const isCleanedUp = readRecord(record, expireAt) !== undefined
      // The cleanup started by the server's clock; without the record it would run twice.
      if (record !== undefined && isCleanedUp) desired[prefix + STATUS_ANNOTATIONS.cleanup] = record
      // After the expiry, the expirer owns the status.
      const status = annotations[prefix + STATUS_ANNOTATIONS.status]
      if ((isCleanedUp || terms.expireAt <= now) && status?.startsWith(EXPIRED))
        desired[prefix + STATUS_ANNOTATIONS.status] = status
    }
  }
}

function difference(annotations: Readonly<Record<string, string>>, desired: Changes): Changes {
  const changes: Record<string, string | null> = {}
  for (const [name, value] of Object.entries(desired)) {
    if ((annotations[name] ?? null) !== value) changes[name] = value
  }
  return changes
}

function planOf(terms: Terms, family: LeaseFamily): Pick<LeasePlan, 'lease' | 'startsNow' | 'isByAge'> {
  if (terms.state !== 'dated') return { lease: undefined, startsNow: false, isByAge: false }
  const { start, expireAt, propagation, job, newStart, isByAge } = terms
  return { lease: { family, start, expireAt, propagation, job }, startsNow: newStart !== undefined, isByAge }
}

/** Events and counts of this write, each reported once. */
function outcomeOf(
  annotations: Readonly<Record<string, string>>,
  { prefix, start }: LeaseFamily,
  terms: Terms,
  changes: Changes,
): Pick<LeasePlan, 'started' | 'invalid' | 'events'> {
  const events: EventContent[] = []
  const statusChanges = changes[prefix + STATUS_ANNOTATIONS.status] !== undefined
  if (terms.state === 'invalid') {
    if (statusChanges)
      events.push({ type: 'Warning', reason: EVENT_REASONS.invalidTtl, message: `Invalid TTL: ${terms.reason}` })
    return { started: false, invalid: statusChanges, events }
  }
  if (terms.job?.ok === false && statusChanges) {
    events.push({
      type: 'Warning',
      reason: EVENT_REASONS.jobInvalid,
      message: `The cleanup job cannot be run: ${terms.job.reason}.`,
    })
  }
  if (terms.state === 'forever') return { started: false, invalid: false, events }
  const expireAt = formatTime(terms.expireAt)
  if (terms.newStart === 'reset') {
    const message = `${start} ${JSON.stringify(annotations[prefix + start])} is not an RFC 3339 time; the lease starts now and ends at ${expireAt}.`
    events.push({ type: 'Warning', reason: EVENT_REASONS.startReset, message })
  }
  if (terms.newStart === 'rolled-back') {
    const message = `The lease came back with an earlier description of the object, and had ended; it starts now and ends at ${expireAt}.`
    events.push({ type: 'Warning', reason: EVENT_REASONS.startReset, message })
  }
  const started = annotations[prefix + STATUS_ANNOTATIONS.expireAt] === undefined || terms.newStart !== undefined
  if (started) events.push({ type: 'Normal', reason: EVENT_REASONS.started, message: `The lease ends at ${expireAt}.` })
  return { started, invalid: false, events }
}
