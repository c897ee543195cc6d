import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { ApiError, isAlreadyExists } from '@tenure/kube'
import { Event } from '@tenure/kube/kinds'
import { EVENT_REASONS } from '../../api/reasons.ts'
import type { DatedLease } from './plan.ts'
import type { Leased, LeaseContext } from './context.ts'
import { formatTime } from '../../api/time.ts'

const CONTROLLER = 'tenure'
const LONGEST_NAME = 253
const LONGEST_INSTANCE = 128

/**
 * Announces that a lease will end. The Event's name is always the same for the same end, so that a controller that was
 * restarted in between announces nothing twice: the Event itself is the memory of it.
 */
export async function warnOfExpiry(
  { api, clock, settings }: Pick<LeaseContext, 'api' | 'clock' | 'settings'>,
  object: Leased,
  lease: DatedLease,
  signal: AbortSignal,
): Promise<void> {
  const note = `The lease ends at ${formatTime(lease.expireAt)}; ${outlook(lease, settings)}`
  try {
    await api.create(Event, expiryWarningEvent(object, lease, note, clock.now()), { signal })
  } catch (error) {
    if (isAlreadyExists(error)) return
    // A courtesy: what the server refuses, or whose namespace ends, stays unsaid.
    if (error instanceof ApiError && error.status < 500 && error.status !== 429) return
    throw error
  }
}

/** What will become of the object. */
function outlook({ propagation, job }: DatedLease, { dryRun }: LeaseContext['settings']): string {
  if (dryRun) return 'the object would be deleted then, but this is a dry run.'
  if (job?.ok === false && job.onFailure === 'keep') return 'the object is kept then: the cleanup job can not be run.'
  return `the object is deleted then (${propagation}). Extend the lease to keep it.`
}

function expiryWarningEvent(object: Leased, { expireAt }: DatedLease, note: string, now: number): Event {
  const { metadata } = object
  const time = new Date(now).toISOString().replace('Z', '000Z')
  return {
    metadata: {
      name: nameOf(metadata.name, metadata.uid, formatTime(expireAt)),
      namespace: metadata.namespace ?? 'default',
    },
    eventTime: time,
    reportingController: CONTROLLER,
    reportingInstance: hostname().slice(0, LONGEST_INSTANCE),
    type: 'Normal',
    reason: EVENT_REASONS.expiring,
    action: EVENT_REASONS.expiring,
    note,
    regarding: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name: metadata.name,
      uid: metadata.uid,
      ...(metadata.namespace && { namespace: metadata.namespace }),
    },
  }
}

function nameOf(name: string, uid: string, end: string): string {
  const unique = hash('sha256', JSON.stringify([uid, end]), 'hex').slice(0, 16)
  const room = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, LONGEST_NAME - unique.length - 1)
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  // Labels of a name may neither be empty nor begin or end with a dash.
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(room) ? `${room}.${unique}` : unique
}
