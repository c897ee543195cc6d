import type { Stored } from '@tenure/kube'
import { type Action, event, getCondition, isTrue, requeueAfter, status } from '@tenure/runtime'
import { type Application, type ApplicationStatus, CONDITIONS, isReported, REASONS } from '../../api/index.ts'

/** Milliseconds that a new Application has to get ready before it is reported on: most then need one status, not two. */
const FIRST_REPORT = 5_000
/** The same when many begin at once, and the API server has better to do than to hear that they have not begun yet. */
const FIRST_REPORT_IN_CROWD = 300_000
/** Milliseconds between reports of mere progress. The times they are measured by are whole seconds. */
const PROGRESS_REPORT = 5_000

/** Writes the status, and tells of what has changed by it; or later, if it can wait. `isCrowd`: many others wait too. */
export function planReport(
  application: Stored<Application>,
  next: ApplicationStatus,
  now: number,
  isCrowd = false,
): readonly Action<Application>[] {
  const wait = waitOf(application, next, now, isCrowd)
  if (wait > 0) return [requeueAfter(wait)]
  return [status(next), ...eventsOf(application, next)]
}

/** How long, in milliseconds, a status can wait to be written. */
function waitOf(application: Stored<Application>, next: ApplicationStatus, now: number, isCrowd: boolean): number {
  const { metadata, status: before } = application
  if (!isReported(before)) {
    if (next.phase !== 'Pending') return 0
    const period = isCrowd && isBlank(next) ? FIRST_REPORT_IN_CROWD : FIRST_REPORT
    return Math.min(remaining(metadata.creationTimestamp, period, now), FIRST_REPORT)
  }
  if (before === undefined || isTurn(before, next) || !isProgress(before, next)) return 0
  const written = metadata.managedFields?.find(({ subresource }) => subresource === 'status')?.time
  return remaining(written, PROGRESS_REPORT, now)
}

/** There is nothing to tell yet. */
function isBlank(next: ApplicationStatus): boolean {
  return next.readyReplicas === 0 && reasonOf(next) === 'RolloutInProgress'
}

/** What is left of `period` since `start`. None if that is in the future: clocks that disagree must not hold it up. */
function remaining(start: string | undefined, period: number, now: number): number {
  const age = now - Date.parse(start ?? '')
  return age >= 0 && age < period ? period - age : 0
}

/** More than figures and words have changed. */
function isTurn(before: ApplicationStatus, next: ApplicationStatus): boolean {
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

/** Figures and words have changed. */
function isProgress(before: ApplicationStatus, next: ApplicationStatus): boolean {
  return (
    before.replicas !== next.replicas ||
    before.readyReplicas !== next.readyReplicas ||
    messageOf(before) !== messageOf(next)
  )
}

/** Each fact once: when the status begins to say it. */
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
