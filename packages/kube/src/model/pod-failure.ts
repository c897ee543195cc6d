import type { ContainerStatus, Pod } from '../kinds.ts'
import { STUCK_CONTAINER_REASONS } from './container-reasons.ts'

/** Why a pod does not become ready. */
export interface PodFailure {
  /** Reason of the container status or condition. */
  readonly reason: string
  readonly message: string
  /** Needs a change by a person. Otherwise it may resolve itself. */
  readonly isFatal: boolean
}

/** Restarts from which a container that is not ready counts as crash-looping, even while it runs. */
const MIN_CRASH_LOOP_RESTARTS = 2
/** In characters. */
const MAX_MESSAGE_LENGTH = 1_000

/** Failure of a pod; undefined if it has none. */
export function podFailureOf(pod: Pod): PodFailure | undefined {
  const { metadata, status } = pod
  if (metadata?.deletionTimestamp || !status) return undefined
  for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const failure = containerFailure(container)
    if (failure)
      return { ...failure, message: `Pod ${metadata?.name ?? ''}: ${failure.message}`.slice(0, MAX_MESSAGE_LENGTH) }
  }
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined
  const message = `Pod ${metadata?.name ?? ''}: ${scheduled.message ?? 'no node can take it'}`.slice(
    0,
    MAX_MESSAGE_LENGTH,
  )
  return { reason: 'Unschedulable', message, isFatal: false }
}

function containerFailure(container: ContainerStatus): PodFailure | undefined {
  const { lastState, name, ready, restartCount, state } = container
  const waiting = state?.waiting
  const isCrashing = waiting?.reason === 'CrashLoopBackOff' || (!ready && restartCount >= MIN_CRASH_LOOP_RESTARTS)
  const crash = state?.terminated ?? lastState?.terminated
  if (isCrashing && crash && crash.exitCode !== 0) {
    // The kubelet's own message contains the back-off time, which changes with every restart.
    return {
      reason: 'CrashLoopBackOff',
      message: `container ${name} keeps crashing, with exit code ${crash.exitCode}`,
      isFatal: true,
    }
  }
  const reason = waiting?.reason
  if (reason === undefined || !STUCK_CONTAINER_REASONS.has(reason)) return undefined
  return { reason, message: waiting?.message || `container ${name} does not start`, isFatal: true }
}

/** Reasons that count as another one. */
const ALIASES: Readonly<Record<string, string>> = { ErrImagePull: 'ImagePullBackOff' }

/** Whether two reasons mean the same failure: a failing pull alternates between two reasons. */
export function isSameFailure(one: string, other: string): boolean {
  return (ALIASES[one] ?? one) === (ALIASES[other] ?? other)
}
