import type { Stored } from '@tenure/kube'
import {
  type Action,
  type Actions,
  event,
  getCondition,
  isTrue,
  requeueAfter,
  status,
  type StatusContext,
} from '@tenure/runtime'
import { Application, type ApplicationStatus, CONDITIONS, isReported, REASONS } from '../../api/index.ts'
import { observe } from './observed.ts'
import { rolloutOf } from './rollout.ts'
import { announceRollout, announceUpdate, isFirstGeneration } from './rollout-events.ts'
import { failedStatus, statusOf } from './status.ts'
import { isTransient } from './transient-error.ts'

/** Delay of the first status of a new Application: most are ready by then and need one write, not two. */
const FIRST_REPORT_DELAY_MS = 5_000
/** The same while many Applications are pending, to keep the API server free for their workloads. */
const BUSY_FIRST_REPORT_DELAY_MS = 300_000
/** Interval between status writes that change only counts and messages. managedFields times are whole seconds. */
const PROGRESS_REPORT_INTERVAL_MS = 5_000

/** Above this many pending Applications, first status reports are delayed. */
const MAX_PENDING = 20

/** Index of Applications without a reported status. */
export const PENDING_NEW = 'pendingNew'
const PENDING = 'true'

export function pendingNewValues({ status }: Stored<Application>): readonly string[] {
  return isReported(status) ? [] : [PENDING]
}

/** Reports the rollout, or the failure of a reconcile. The first of transient failures is not reported. */
export function reportStatus(
  context: Pick<StatusContext<Application>, 'byIndex' | 'failure' | 'failures' | 'now' | 'object' | 'owned'>,
): Actions<Application> {
  const { failure, failures, now, object } = context
  if (failure && failures === 1 && isTransient(failure)) return []
  const rollout = rolloutOf(object, observe(context))
  if (!failure) {
    const isBusy = () => context.byIndex(Application, PENDING_NEW, PENDING).length > MAX_PENDING
    return planReport(object, statusOf(object, rollout, now), now, isBusy)
  }
  const message = 'No objects created yet.'
  return [
    !isReported(object.status) && event({ type: 'Normal', reason: REASONS.created, message }),
    ...planReport(object, failedStatus(object, rollout, failure.message, now), now),
  ]
}

/** Writes the status and its events, or requeues if the write can wait. `isBusy`: many Applications are pending. */
export function planReport(
  application: Stored<Application>,
  next: ApplicationStatus,
  now: number,
  isBusy = () => false,
): readonly Action<Application>[] {
  const wait = waitOf(application, next, now, isBusy)
  if (wait > 0) return [requeueAfter(wait)]
  return [status(next), ...eventsOf(application, next)]
}

/** Milliseconds that the write of a status can wait. */
function waitOf(application: Stored<Application>, next: ApplicationStatus, now: number, isBusy: () => boolean): number {
  const { metadata, status: before } = application
  if (!isReported(before)) {
    if (next.phase !== 'Pending' || !isFirstGeneration(application)) return 0
    const period = isBlank(next) && isBusy() ? BUSY_FIRST_REPORT_DELAY_MS : FIRST_REPORT_DELAY_MS
    return Math.min(remaining(metadata.creationTimestamp, period, now), FIRST_REPORT_DELAY_MS)
  }
  if (before === undefined || isTransition(before, next) || !isProgress(before, next)) return 0
  const written = metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.time
  return remaining(written, PROGRESS_REPORT_INTERVAL_MS, now)
}

/** The rollout shows no progress yet. */
function isBlank(next: ApplicationStatus): boolean {
  return next.readyReplicas === 0 && reasonOf(next) === 'RolloutInProgress'
}

/** Remainder of `period` since `start`. Zero if `start` is in the future, so that clock skew does not delay a write. */
function remaining(start: string | undefined, period: number, now: number): number {
  const age = now - Date.parse(start ?? '')
  return age >= 0 && age < period ? period - age : 0
}

/** A phase, generation, condition status or reason changes. */
function isTransition(before: ApplicationStatus, next: ApplicationStatus): boolean {
  return (
    before.phase !== next.phase ||
    before.observedGeneration !== next.observedGeneration ||
    Object.values(CONDITIONS).some((type) => {
      const old = getCondition(before.conditions, type)
      const now = getCondition(next.conditions, type)
      return old?.status !== now?.status || old?.reason !== now?.reason
    })
  )
}

/** Counts or messages change. */
function isProgress(before: ApplicationStatus, next: ApplicationStatus): boolean {
  return (
    before.replicas !== next.replicas ||
    before.readyReplicas !== next.readyReplicas ||
    messageOf(before) !== messageOf(next)
  )
}

/** Events for the transition from the current status to the next. */
function eventsOf(application: Stored<Application>, next: ApplicationStatus): readonly Action<Application>[] {
  const { spec, status: before } = application
  const isNew = before?.observedGeneration !== next.observedGeneration
  const message = messageOf(next) ?? ''
  const events: Action<Application>[] = isNew ? [...announceUpdate(application)] : []
  if (isTrue(next.conditions, CONDITIONS.ready)) {
    if (isNew || !isTrue(before?.conditions, CONDITIONS.ready)) {
      events.push(event({ type: 'Normal', reason: REASONS.reconciled, message }))
    }
  } else if (next.phase === 'Failed') {
    if (isNew || before?.phase !== 'Failed' || reasonOf(before) !== reasonOf(next)) {
      const note = reasonOf(next) === REASONS.reconciliationFailed ? message : `${reasonOf(next) ?? ''}: ${message}`
      events.push(event({ type: 'Warning', reason: REASONS.reconciliationFailed, message: note }))
    }
  } else if (next.phase === 'Pending' && !isNew && before?.phase !== 'Pending') {
    events.push(announceRollout(spec))
  }
  return events
}

const readyOf = (status: ApplicationStatus | undefined) => getCondition(status?.conditions, CONDITIONS.ready)
const messageOf = (status: ApplicationStatus | undefined): string | undefined => readyOf(status)?.message
const reasonOf = (status: ApplicationStatus | undefined): string | undefined => readyOf(status)?.reason
