import type { Stored } from '@tenure/kube'
import type { Job, JobCondition, JobStatus, Pod } from '@tenure/kube/kinds'
import { rfc3339 } from '@tenure/runtime'
import { conditionOf, hasTrue, withoutCondition } from '../common/conditions.ts'
import { isActive, isFinished, isReady, isTerminating } from '../common/pods.ts'
import { count } from '../common/status.ts'
import { fatalFailure, rulingOn } from './failure-policy.ts'
import { endOf, hasFailed, indexOf, isIndexed, isTracked, printIndexes, readIndexes } from './job-pods.ts'

const FIRST_BACKOFF = 10_000
const LONGEST_BACKOFF = 600_000

export interface JobSeen {
  readonly job: Stored<Job>
  readonly pods: readonly Stored<Pod>[]
  readonly now: number
}

export interface JobPlan {
  /** To be written before anything else is done. */
  readonly status: JobStatus
  /** Finished pods that are in `status` as not counted yet: their hold is to be taken off, and then they count. */
  readonly untrack: readonly Stored<Pod>[]
  readonly remove: readonly Stored<Pod>[]
  /** Pods to make; of an indexed job, their indexes. */
  readonly create: readonly (number | undefined)[]
  readonly notes: readonly { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }[]
  /** Look again then, in milliseconds since 1970. */
  readonly at: number | undefined
}

export function isJobFinished(job: Job): boolean {
  return hasTrue(job.status?.conditions, 'Complete') || hasTrue(job.status?.conditions, 'Failed')
}

/** What is to be done for a job that is not finished. */
export function planJob(seen: JobSeen): JobPlan {
  const { job, now, pods } = seen
  const spec = job.spec
  // What a policy says of a pod is known only when it has failed.
  const replacement = spec?.podFailurePolicy ? 'Failed' : (spec?.podReplacementPolicy ?? 'TerminatingOrFailed')
  const isSuspended = spec?.suspend === true
  const tally = countPods(seen, replacement, isSuspended)
  const active = pods.filter((pod) => isActive(pod))
  const terminating = pods.filter((pod) => isTerminating(pod))
  const { parallelism = 1, completions, backoffLimit = 6, activeDeadlineSeconds } = spec ?? {}
  const startTime = isSuspended ? undefined : (job.status?.startTime ?? rfc3339(now))
  const deadline =
    activeDeadlineSeconds === undefined || !startTime ? undefined : Date.parse(startTime) + activeDeadlineSeconds * 1000

  let conditions = job.status?.conditions ?? []
  const notes: { type: 'Normal' | 'Warning'; reason: string; message: string }[] = []
  const set = (type: string, status: string, reason: string, message: string): void => {
    const time = rfc3339(now)
    const next: JobCondition = { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message }
    conditions = [...withoutCondition(conditions, type), next]
  }

  const target = conditionOf(conditions, 'FailureTarget') ?? conditionOf(conditions, 'SuccessCriteriaMet')
  let verdict = target && { type: target.type, reason: target.reason ?? '', message: target.message ?? '' }
  const fatal = fatalFailure(
    job,
    pods.filter((pod) => hasFailed(pod, replacement)),
  )
  verdict ??= fatal === undefined ? undefined : { type: 'FailureTarget', reason: 'PodFailurePolicy', message: fatal }
  verdict ??= failureOf(tally.failed, backoffLimit, active, deadline, now)
  const isEnough =
    completions === undefined || completions === null
      ? tally.succeeded > 0 && active.length === 0
      : tally.succeeded >= completions
  if (!verdict && isEnough) {
    verdict = {
      type: 'SuccessCriteriaMet',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    }
  }
  const remove: Stored<Pod>[] = []
  const create: (number | undefined)[] = []
  let at = deadline !== undefined && deadline > now ? deadline : undefined
  if (verdict) {
    if (!target) set(verdict.type, 'True', verdict.reason, verdict.message)
    remove.push(...active)
    const isOver = active.length === 0 && terminating.length === 0 && tally.untrack.length === 0
    if (isOver) {
      const isFailure = verdict.type === 'FailureTarget'
      set(isFailure ? 'Failed' : 'Complete', 'True', verdict.reason, verdict.message)
      notes.push(
        isFailure
          ? { type: 'Warning', reason: verdict.reason, message: verdict.message }
          : { type: 'Normal', reason: 'Completed', message: 'Job completed' },
      )
    }
  } else if (isSuspended) {
    remove.push(...active)
    if (!hasTrue(conditions, 'Suspended')) {
      set('Suspended', 'True', 'JobSuspended', 'Job suspended')
      notes.push({ type: 'Normal', reason: 'Suspended', message: 'Job suspended' })
    }
  } else {
    if (hasTrue(conditions, 'Suspended')) {
      set('Suspended', 'False', 'JobResumed', 'Job resumed')
      notes.push({ type: 'Normal', reason: 'Resumed', message: 'Job resumed' })
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
      remove.push(...active.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b))).slice(0, -missing))
    else if (wait !== undefined && wait > now) at = Math.min(wait, at ?? Infinity)
    else create.push(...newOnes(job, pods, tally.indexes, missing))
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
  return { status, untrack: tally.untrack, remove, create, notes, at }
}

interface Tally {
  /** With those that are not in the status yet. */
  readonly succeeded: number
  readonly failed: number
  /** As the status is to say. */
  readonly counted: { readonly succeeded: number; readonly failed: number }
  readonly waiting: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
  readonly untrack: readonly Stored<Pod>[]
  /** Indexes that have succeeded. */
  readonly indexes: ReadonlySet<number>
}

/** Counts each pod's end once, also over crashes: first it is noted, then let go, then counted. */
function countPods({ job, pods }: JobSeen, replacement: string, isSuspended: boolean): Tally {
  const before = job.status?.uncountedTerminatedPods
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const isHeld = (uid: string): boolean => {
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
    // Pods that had to go because the job was suspended did not fail.
    if (isSuspended && !isFinished(pod)) continue
    if (!hasSucceeded) {
      if (rulingOn(job, pod)?.action !== 'Ignore') fresh.failed.push(uid)
    } else if (!isIndexed(job)) fresh.succeeded.push(uid)
    else indexes.add(indexOf(pod) ?? 0)
  }
  const done = {
    succeeded: noted.succeeded.filter((uid) => !isHeld(uid)).length,
    failed: noted.failed.filter((uid) => !isHeld(uid)).length,
  }
  const waiting = {
    succeeded: [...noted.succeeded.filter(isHeld), ...fresh.succeeded],
    failed: [...noted.failed.filter(isHeld), ...fresh.failed],
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

/** After failures in a row the next pod has to wait, longer each time. */
function retryAt(pods: readonly Stored<Pod>[], replacement: string): number | undefined {
  const lastSuccess = Math.max(-Infinity, ...pods.filter(({ status }) => status?.phase === 'Succeeded').map(endOf))
  const failures = pods
    .filter((pod) => hasFailed(pod, replacement))
    .map(endOf)
    .filter((end) => end > lastSuccess)
  if (failures.length === 0) return undefined
  return Math.max(...failures) + Math.min(FIRST_BACKOFF * 2 ** (failures.length - 1), LONGEST_BACKOFF)
}

/** The lowest indexes that have neither succeeded nor run. */
function newOnes(
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
