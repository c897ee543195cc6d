import type { KubeObject, Stored } from '@tenure/kube'
import type { EventContent } from '@tenure/runtime'
import { type LeaseFamily } from '../../api/annotations.ts'
import { EVENT_REASONS } from '../../api/reasons.ts'
import { formatTime } from '../../api/time.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { withAllowedImage } from './cleanup/policy.ts'
import { readRecord } from './cleanup/record.ts'
import { hasInheritedAnnotations } from './inherited-annotations.ts'
import { type Changes, desireStatus, removeStatus, withGeneration } from './status.ts'
import {
  type DatedLease,
  isLeased,
  type LeaseTerms,
  type NewStart,
  readTerms,
  restartedTerms,
  startsNow,
} from './terms.ts'
import { annotationWarnings } from './warnings.ts'

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

const NOTHING: LeasePlan = {
  lease: undefined,
  changes: {},
  startsNow: false,
  isByAge: false,
  started: false,
  invalid: false,
  events: [],
}

/** Without `cleanup`, the images of cleanup jobs are not checked. */
export type PlanSettings = Pick<LeaseSettings, 'families'> & Partial<Pick<LeaseSettings, 'cleanup'>>

/**
 * Plans the annotations of an object from those that its user wrote. Pure: `now` is milliseconds since 1970;
 * `isRolledBack` means that a rollback restored the lease (see `RollbackGuard`).
 */
export function planLease(
  object: Stored<KubeObject>,
  settings: PlanSettings,
  namespaced: boolean,
  now: number,
  isRolledBack = false,
): LeasePlan {
  const { annotations, deletionTimestamp } = object.metadata
  if (!annotations || deletionTimestamp !== undefined || hasInheritedAnnotations(object)) return NOTHING
  const family = settings.families.find((each) => isLeased(annotations, each))
  const desired: Record<string, string | null> = {}
  const others = settings.families.filter((each) => each !== family && isUsed(annotations, each))
  for (const other of others) removeStatus(desired, annotations, other)
  if (!family) return withoutLease(annotations, desired)
  const terms = withPolicy(
    isRolledBack ? restartedTerms(object, family, namespaced, now) : readTerms(object, family, namespaced, now),
    settings,
  )
  const warnings = annotationWarnings(object, others, family, terms.job)
  desireStatus(desired, annotations, family, terms, warnings, now)
  const changes = withObservedGeneration(object, family, terms, difference(annotations, desired))
  return { ...planOf(terms, family), changes, ...outcomeOf(annotations, family, terms, changes) }
}

/** When the lease of an object expires. Only a date on the object counts, so that users can see it before. */
export function datedExpiry({ changes, lease }: LeasePlan): number | undefined {
  if (!lease) return undefined
  return changes[lease.family.names.expireAt] === undefined ? lease.expireAt : undefined
}

/** Whether everything that precedes the deletion is done. */
export function isReadyToDelete(object: Stored<KubeObject>, plan: LeasePlan): boolean {
  const { lease } = plan
  if (!lease) return false
  const { job, family, expireAt } = lease
  if (!job || (!job.ok && job.onFailure === 'delete')) return true
  const record = readRecord(object.metadata.annotations?.[family.names.cleanup], formatTime(expireAt))
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

/** Whether any annotation belongs to a family. Most objects use one family, and each lookup by name costs more. */
function isUsed(annotations: Readonly<Record<string, string>>, { prefix }: LeaseFamily): boolean {
  for (const name in annotations) if (name.startsWith(prefix)) return true
  return false
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

/** The terms without a job whose image is not allowed. */
function withPolicy(terms: LeaseTerms, { cleanup }: PlanSettings): LeaseTerms {
  if (terms.state === 'invalid' || !terms.job || !cleanup) return terms
  return { ...terms, job: withAllowedImage(terms.job, cleanup) }
}

/** Records the generation of an object whose lease follows its updates, with the changes or alone. */
function withObservedGeneration(
  object: Stored<KubeObject>,
  family: LeaseFamily,
  terms: LeaseTerms,
  changes: Changes,
): Changes {
  if (terms.state !== 'dated' || !terms.followsUpdates) return changes
  const observed = object.metadata.annotations?.[family.names.generation]
  const isUpToDate = observed === String(object.metadata.generation) && Object.keys(changes).length === 0
  return isUpToDate ? changes : withGeneration(object, family, changes)
}

function difference(annotations: Readonly<Record<string, string>>, desired: Changes): Changes {
  const changes: Record<string, string | null> = {}
  for (const [name, value] of Object.entries(desired)) {
    if ((annotations[name] ?? null) !== value) changes[name] = value
  }
  return changes
}

function planOf(terms: LeaseTerms, family: LeaseFamily): Pick<LeasePlan, 'lease' | 'startsNow' | 'isByAge'> {
  if (terms.state !== 'dated') return { lease: undefined, startsNow: false, isByAge: false }
  const { start, expireAt, propagation, job, isByAge } = terms
  return { lease: { family, start, expireAt, propagation, job }, startsNow: startsNow(terms), isByAge }
}

/** Events and counts of this write, each reported once. */
function outcomeOf(
  annotations: Readonly<Record<string, string>>,
  { names, start }: LeaseFamily,
  terms: LeaseTerms,
  changes: Changes,
): Pick<LeasePlan, 'started' | 'invalid' | 'events'> {
  const events: EventContent[] = []
  const statusChanges = changes[names.status] !== undefined
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
  const reset = resetMessage(terms.newStart, start, annotations[names.start])
  if (reset !== undefined) {
    const message = `${reset} and ends at ${expireAt}.`
    events.push({ type: 'Warning', reason: EVENT_REASONS.startReset, message })
  }
  const started = annotations[names.expireAt] === undefined || terms.newStart !== undefined
  const why = terms.newStart === 'renewed' ? 'The object was updated. ' : ''
  const message = `${why}The lease ends at ${expireAt}.`
  if (started) events.push({ type: 'Normal', reason: EVENT_REASONS.started, message })
  return { started, invalid: false, events }
}

/** Why the start that a user wrote does not count; undefined if it does. */
function resetMessage(newStart: NewStart | undefined, start: string, given: string | undefined): string | undefined {
  switch (newStart) {
    case 'reset':
      return `${start} ${JSON.stringify(given)} is not an RFC 3339 time; the lease starts now`
    case 'rolled-back':
      return 'The lease came back with an earlier description of the object, and had ended; it starts now'
    case 'outlived':
      return `The lease of ${start} ${given} ended before the object was created; it starts at the creation`
    default:
      return undefined
  }
}
