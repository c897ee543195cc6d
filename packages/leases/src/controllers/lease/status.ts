import type { KubeObject, Stored } from '@tenure/kube'
import { type LeaseFamily, STATUS_ANNOTATIONS } from '../../api/annotations.ts'
import { formatTime } from '../../api/time.ts'
import { readRecord } from './cleanup/record.ts'
import { type DatedLease, isLeased, type LeaseTerms } from './terms.ts'

/** Annotations to set, or to remove if null. */
export type Changes = Readonly<Record<string, string | null>>

export const EXPIRED = 'Lease expired.'
/** Shown for an object whose status is not written yet. */
export const NOT_PROCESSED = 'Not processed by a lease controller yet.'
export const DELETING = `${EXPIRED} Deleting object.`
export const DRY_RUN = `${EXPIRED} Dry run: object is kept.`

/** The status of an object that is kept because its cleanup job is invalid. */
export function invalidJobStatus(reason: string): string {
  return `${EXPIRED} The cleanup job cannot be run: ${reason}. Object is kept.`
}

export function hasStatus({ metadata }: Stored<KubeObject>, { family }: DatedLease, status: string): boolean {
  return metadata.annotations?.[family.names.status] === status
}

/** Removes the status annotations of a family that does not count. User annotations stay while they define a lease. */
export function removeStatus(
  desired: Record<string, string | null>,
  annotations: Readonly<Record<string, string>>,
  family: LeaseFamily,
): void {
  const { names, prefix } = family
  // Any of them means that a lease existed: its start, if left behind, would make the next lease expire at once.
  const written = Object.values(STATUS_ANNOTATIONS).map((name) => prefix + name)
  if (!written.some((name) => annotations[name] !== undefined)) return
  for (const name of written) desired[name] = null
  if (!isLeased(annotations, family)) desired[names.start] = null
}

/** The desired status annotations of the family that counts. */
export function desireStatus(
  desired: Record<string, string | null>,
  annotations: Readonly<Record<string, string>>,
  { names, start: startName }: LeaseFamily,
  terms: LeaseTerms,
  warnings: readonly string[],
  now: number,
): void {
  const withWarnings = (text: string): string => [text, ...warnings.map((warning) => `Warning: ${warning}`)].join(' ')
  desired[names.basis] = null
  desired[names.cleanup] = null
  desired[names.expireAt] = null
  const isFollowed = terms.state === 'dated' && terms.followsUpdates
  // Most leases do not follow updates, and this is on the path of every event.
  if (!isFollowed && annotations[names.generation] !== undefined) desired[names.generation] = null
  switch (terms.state) {
    case 'invalid':
      desired[names.status] = withWarnings(`Invalid TTL: ${terms.reason}`)
      return
    case 'forever':
      desired[names.status] = withWarnings('Lease active. Never expires.')
      return
    case 'dated': {
      const expireAt = formatTime(terms.expireAt)
      desired[names.expireAt] = expireAt
      if (terms.newStart !== undefined) desired[names.start] = formatTime(terms.start)
      if (terms.extended && startName === 'extended-at') desired[names.basis] = startName
      desired[names.status] = withWarnings(`Lease active. Expires at ${expireAt} UTC.`)
      const record = annotations[names.cleanup]
      const isCleanedUp = readRecord(record, expireAt) !== undefined
      // The cleanup started by the server's clock; without the record it would run twice.
      if (record !== undefined && isCleanedUp) desired[names.cleanup] = record
      // After the expiry, the expirer owns the status.
      const status = annotations[names.status]
      if ((isCleanedUp || terms.expireAt <= now) && status?.startsWith(EXPIRED)) desired[names.status] = status
    }
  }
}

/**
 * The changes, with the generation that the object has after them: a write of the lease controller must not look like an
 * update that renews the lease. Used for all writes to an object whose lease follows its updates.
 */
export function withGeneration(object: Stored<KubeObject>, { names }: LeaseFamily, changes: Changes): Changes {
  const name = names.generation
  const generation = String(generationAfterWrite(object))
  return object.metadata.annotations?.[name] === generation ? changes : { ...changes, [name]: generation }
}

/** The same, if the object says that its lease follows its updates. */
export function withFollowedGeneration(object: Stored<KubeObject>, family: LeaseFamily, changes: Changes): Changes {
  const isFollowed = object.metadata.annotations?.[family.names.generation] !== undefined
  return isFollowed ? withGeneration(object, family, changes) : changes
}

/** The API server counts annotations only in the generation of Deployments, because it copies them to ReplicaSets. */
function generationAfterWrite({ apiVersion, kind, metadata }: Stored<KubeObject>): number {
  const countsAnnotations = kind === 'Deployment' && apiVersion === 'apps/v1'
  return (metadata.generation ?? 0) + Number(countsAnnotations)
}
