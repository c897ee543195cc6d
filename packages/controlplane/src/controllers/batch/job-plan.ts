import type { Stored } from '@tenure/kube'
import type { Job, JobCondition, JobStatus, Pod } from '@tenure/kube/kinds'
import { type EventContent, rfc3339 } from '@tenure/runtime'
import { append } from '../../model/append.ts'
import { conditionOf, hasTrue, withoutCondition } from '../common/conditions.ts'
import { isActive, isFinished, isReady, isTerminating } from '../common/pods.ts'
import { count } from '../common/status.ts'
import { fatalFailure, matchFailureRule } from './failure-policy.ts'
import { endOf, hasFailed, indexOf, isIndexed, isTracked, printIndexes, readIndexes } from './job-pods.ts'

const MIN_BACKOFF_MS = 10_000
const MAX_BACKOFF_MS = 600_000

export interface JobState {
  readonly job: Stored<Job>
  readonly pods: readonly Stored<Pod>[]
  readonly now: number
}

export interface JobPlan {
  /** Written before the other changes. */
  readonly status: JobStatus
  /** Finished pods that are uncounted in `status`. They count after their tracking finalizer is removed. */
  readonly untrack: readonly Stored<Pod>[]
  readonly remove: readonly Stored<Pod>[]
  /** Pods to create: their indexes for an indexed Job, otherwise undefined. */
  readonly create: readonly (number | undefined)[]
  readonly events: readonly EventContent[]
  /** Time of the next reconcile in milliseconds. */
  readonly at: number | undefined
}

export function isJobFinished(job: Job): boolean {
  return hasTrue(job.status?.conditions, 'Complete') || hasTrue(job.status?.conditions, 'Failed')
}

/** Plans the changes for an unfinished Job. */
export function planJob(state: JobState): JobPlan {
  const { job, now, pods } = state
  const spec = job.spec
  // A podFailurePolicy can only match a pod that has failed.
  const replacement = spec?.podFailurePolicy ? 'Failed' : (spec?.podReplacementPolicy ?? 'TerminatingOrFailed')
  const isSuspended = spec?.suspend === true
  const tally = countPods(state, replacement, isSuspended)
  const active = pods.filter((pod) => isActive(pod))
  const terminating = pods.filter((pod) => isTerminating(pod))
  const { parallelism = 1, completions, backoffLimit = 6, activeDeadlineSeconds } = spec ?? {}
  const startTime = isSuspended ? undefined : (job.status?.startTime ?? rfc3339(now))
  const deadline =
    activeDeadlineSeconds === undefined || !startTime ? undefined : Date.parse(startTime) + activeDeadlineSeconds * 1000

  let conditions = job.status?.conditions ?? []
  const events: EventContent[] = []
  const set = (type: string, status: string, reason: string, message: string): void => {
    const time = rfc3339(now)
    const next: JobCondition = { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message }
    conditions = [...withoutCondition(conditions, type), next]
  }

  const target = conditionOf(conditions, 'FailureTarget') ?? conditionOf(conditions, 'SuccessCriteriaMet')
  let result = target && { type: target.type, reason: target.reason ?? '', message: target.message ?? '' }
  const fatal = fatalFailure(
    job,
    pods.filter((pod) => hasFailed(pod, replacement)),
  )
  result ??= fatal === undefined ? undefined : { type: 'FailureTarget', reason: 'PodFailurePolicy', message: fatal }
  result ??= failureOf(tally.failed, backoffLimit, active, deadline, now)
  const isEnough =
    completions === undefined || completions === null
      ? tally.succeeded > 0 && active.length === 0
      : tally.succeeded >= completions
  if (!result && isEnough) {
    result = {
      type: 'SuccessCriteriaMet',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    }
  }
  const remove: Stored<Pod>[] = []
  const create: (number | undefined)[] = []
  let at = deadline !== undefined && deadline > now ? deadline : undefined
  if (result) {
    if (!target) set(result.type, 'True', result.reason, result.message)
    append(remove, active)
    const isFinalized = active.length === 0 && terminating.length === 0 && tally.untrack.length === 0
    if (isFinalized) {
      const isFailure = result.type === 'FailureTarget'
      set(isFailure ? 'Failed' : 'Complete', 'True', result.reason, result.message)
      events.push(
        isFailure
          ? { type: 'Warning', reason: result.reason, message: result.message }
          : { type: 'Normal', reason: 'Completed', message: 'Job completed' },
      )
    }
  } else if (isSuspended) {
    append(remove, active)
    if (!hasTrue(conditions, 'Suspended')) {
      set('Suspended', 'True', 'JobSuspended', 'Job suspended')
      events.push({ type: 'Normal', reason: 'Suspended', message: 'Job suspended' })
    }
  } else {
    if (hasTrue(conditions, 'Suspended')) {
      set('Suspended', 'False', 'JobResumed', 'Job resumed')
      events.push({ type: 'Normal', reason: 'Resumed', message: 'Job resumed' })
    }
    const left =
      completions === undefined || completions === null
        ? tally.succeeded > 0
          ? active.length
          : parallelism
        : Math.min(parallelism, completions - tally.succeeded)
    const held = replacement === 'Failed' ? terminating.length : 0
    const missing = left - active.length - held
    const wait = missing > 0 ? retryAt(pods, replacement) : undefined
    if (missing < 0)
      append(remove, active.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b))).slice(0, -missing))
    else if (wait !== undefined && wait > now) at = Math.min(wait, at ?? Infinity)
    else append(create, indexesToCreate(job, pods, tally.indexes, missing))
  }
  const isComplete = conditions.some(({ status, type }) => type === 'Complete' && status === 'True')
  const status: JobStatus = {
    ...(conditions.length > 0 && { conditions }),
    ...(startTime && { startTime }),
    ...(isComplete && { completionTime: rfc3339(now) }),
    ...count('active', active.length - remove.length),
    ...count('succeeded', tally.counted.succeeded),
    ...count('failed', tally.counted.failed),
    ...(isIndexed(job) && tally.indexes.size > 0 && { completedIndexes: printIndexes(tally.indexes) }),
    terminating: terminating.length + remove.length,
    ready: active.filter((pod) => isReady(pod) && !remove.includes(pod)).length,
    uncountedTerminatedPods: uncounted(tally),
  }
  return { status, untrack: tally.untrack, remove, create, events, at }
}

interface Tally {
  /** Includes pods that are not counted in the status yet. */
  readonly succeeded: number
  readonly failed: number
  /** The counts of the new status. */
  readonly counted: { readonly succeeded: number; readonly failed: number }
  readonly waiting: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
  readonly untrack: readonly Stored<Pod>[]
  /** Succeeded indexes. */
  readonly indexes: ReadonlySet<number>
}

/** Counts each finished pod exactly once despite crashes: first it is listed as uncounted, then its finalizer is removed, then it counts. */
function countPods({ job, pods }: JobState, replacement: string, isSuspended: boolean): Tally {
  const before = job.status?.uncountedTerminatedPods
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const isStillTracked = (uid: string): boolean => {
    const pod = byUid.get(uid)
    return pod !== undefined && isTracked(pod)
  }
  const noted = { succeeded: before?.succeeded ?? [], failed: before?.failed ?? [] }
  const isNoted = new Set([...noted.succeeded, ...noted.failed])
  const fresh = { succeeded: [] as string[], failed: [] as string[] }
  const indexes = readIndexes(job.status?.completedIndexes)
  const untrack: Stored<Pod>[] = []
  for (const pod of pods) {
    if (!isTracked(pod)) continue
    const { uid } = pod.metadata
    const hasSucceeded = pod.status?.phase === 'Succeeded'
    if (!hasSucceeded && !hasFailed(pod, replacement)) continue
    untrack.push(pod)
    if (isNoted.has(uid)) continue
    // Pods deleted by a suspension have not failed.
    if (isSuspended && !isFinished(pod)) continue
    if (!hasSucceeded) {
      if (matchFailureRule(job, pod)?.action !== 'Ignore') fresh.failed.push(uid)
    } else if (!isIndexed(job)) fresh.succeeded.push(uid)
    else indexes.add(indexOf(pod) ?? 0)
  }
  const done = {
    succeeded: noted.succeeded.filter((uid) => !isStillTracked(uid)).length,
    failed: noted.failed.filter((uid) => !isStillTracked(uid)).length,
  }
  const waiting = {
    succeeded: [...noted.succeeded.filter(isStillTracked), ...fresh.succeeded],
    failed: [...noted.failed.filter(isStillTracked), ...fresh.failed],
  }
  const counted = {
    succeeded: isIndexed(job) ? indexes.size : (job.status?.succeeded ?? 0) + done.succeeded,
    failed: (job.status?.failed ?? 0) + done.failed,
  }
  return {
    counted,
    waiting,
    untrack,
    indexes,
    succeeded: isIndexed(job) ? indexes.size : counted.succeeded + waiting.succeeded.length,
    failed: counted.failed + waiting.failed.length,
  }
}

function uncounted({ waiting: { failed, succeeded } }: Tally): NonNullable<JobStatus['uncountedTerminatedPods']> {
  return { ...(succeeded.length > 0 && { succeeded }), ...(failed.length > 0 && { failed }) }
}

function failureOf(
  failed: number,
  backoffLimit: number,
  active: readonly Stored<Pod>[],
  deadline: number | undefined,
  now: number,
): { type: string; reason: string; message: string } | undefined {
  const restarts = active.reduce(
    (sum, pod) =>
      sum + (pod.status?.containerStatuses ?? []).reduce((each, { restartCount }) => each + restartCount, 0),
    0,
  )
  const isOnFailure = active.some((pod) => pod.spec?.restartPolicy === 'OnFailure')
  if (failed > backoffLimit || (isOnFailure && restarts > 0 && restarts >= backoffLimit)) {
    const message = 'Job has reached the specified backoff limit'
    return { type: 'FailureTarget', reason: 'BackoffLimitExceeded', message }
  }
  if (deadline !== undefined && deadline <= now) {
    const message = 'Job was active longer than specified deadline'
    return { type: 'FailureTarget', reason: 'DeadlineExceeded', message }
  }
  return undefined
}

/** The time of the next attempt after consecutive failures, with exponential backoff. */
function retryAt(pods: readonly Stored<Pod>[], replacement: string): number | undefined {
  const lastSuccess = latest(pods.filter(({ status }) => status?.phase === 'Succeeded').map(endOf))
  const failures = pods
    .filter((pod) => hasFailed(pod, replacement))
    .map(endOf)
    .filter((end) => end > lastSuccess)
  if (failures.length === 0) return undefined
  return latest(failures) + Math.min(MIN_BACKOFF_MS * 2 ** (failures.length - 1), MAX_BACKOFF_MS)
}

const latest = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), -Infinity)

/** The lowest indexes that have not succeeded and have no active pod. */
function indexesToCreate(
  job: Job,
  pods: readonly Stored<Pod>[],
  done: ReadonlySet<number>,
  missing: number,
): (number | undefined)[] {
  if (!isIndexed(job)) return Array.from({ length: Math.min(missing, 500) }, () => undefined)
  const taken = new Set(pods.filter(isActive).map(indexOf))
  const free: number[] = []
  for (let index = 0; index < (job.spec?.completions ?? 0) && free.length < missing; index++) {
    if (!done.has(index) && !taken.has(index)) free.push(index)
  }
  return free
}
