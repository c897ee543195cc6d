import type { Stored } from '@tenure/kube'
import { type Action, event, getCondition, isTrue, requeueAfter, status } from '@tenure/runtime'
import { type Application, type ApplicationStatus, CONDITIONS, isReported, REASONS } from '../../api/index.ts'

/** Delay of the first status of a new Application: most are ready by then and need one write, not two. */
const FIRST_REPORT_DELAY_MS = 5_000
/** The same while many Applications are pending, to keep the API server free for their workloads. */
const BUSY_FIRST_REPORT_DELAY_MS = 300_000
/** Interval between status writes that change only counts and messages. managedFields times are whole seconds. */
const PROGRESS_REPORT_INTERVAL_MS = 5_000

/** Writes the status and its events, or requeues if the write can wait. `isBusy`: many Applications are pending. */
export function planReport(
  application: Stored<Application>,
  next: ApplicationStatus,
  now: number,
  isBusy = false,
): readonly Action<Application>[] {
  const wait = waitOf(application, next, now, isBusy)
  if (wait > 0) return [requeueAfter(wait)]
  return [status(next), ...eventsOf(application, next)]
}

/** Milliseconds that the write of a status can wait. */
function waitOf(application: Stored<Application>, next: ApplicationStatus, now: number, isBusy: boolean): number {
  const { metadata, status: before } = application
  if (!isReported(before)) {
    if (next.phase !== 'Pending') return 0
    const period = isBusy && isBlank(next) ? BUSY_FIRST_REPORT_DELAY_MS : FIRST_REPORT_DELAY_MS
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
function eventsOf(
  { metadata, status: before }: Stored<Application>,
  next: ApplicationStatus,
): readonly Action<Application>[] {
  const isNew = before?.observedGeneration !== next.observedGeneration
  const message = messageOf(next) ?? ''
  const events: Action<Application>[] = []
  if (isNew && isReported(before)) {
    const note = `Generation ${String(metadata.generation)} is being applied.`
    events.push(event({ type: 'Normal', reason: REASONS.updated, message: note }))
  }
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
    events.push(event({ type: 'Normal', reason: REASONS.reconciling, message }))
  }
  return events
}

const readyOf = (status: ApplicationStatus | undefined) => getCondition(status?.conditions, CONDITIONS.ready)
const messageOf = (status: ApplicationStatus | undefined): string | undefined => readyOf(status)?.message
const reasonOf = (status: ApplicationStatus | undefined): string | undefined => readyOf(status)?.reason
