import type { Stored } from '@tenure/kube'
import type { Job } from '@tenure/kube/kinds'
import { formatTime, parseTime } from '../../../api/time.ts'
import type { JobConfig } from './job-config.ts'
import type { CleanupRecord } from './record.ts'

export interface CleanupSituation {
  readonly config: JobConfig
  /** The expiry date on the object. */
  readonly expireAt: string
  /** The record of this expiry. */
  readonly record: CleanupRecord | undefined
  /** The job that `decisiveJob` names; undefined if it is gone. */
  readonly job: Stored<Job> | undefined
  /** The server's time. */
  readonly now: number
}

/** Why a cleanup job failed. */
export type JobFailure = { readonly how: 'failed' | 'timeout' | 'invalid'; readonly message: string }

export type CleanupStep =
  /** The object may be deleted. */
  | { readonly do: 'delete' }
  | { readonly do: 'create'; readonly attempt: number }
  /** Do nothing before `until`, unless the job or the object changes. */
  | { readonly do: 'wait'; readonly until: number }
  /** Record that the job succeeded. */
  | { readonly do: 'completed'; readonly record: CleanupRecord }
  /** Record that the job failed. */
  | { readonly do: 'failed'; readonly record: CleanupRecord; readonly failure: JobFailure }

/** Time that the job controller may take to notice a job's deadline. */
const DEADLINE_SLACK_MS = 60_000
const MIN_RETRY_MS = 10_000
const MAX_RETRY_MS = 600_000

/** The name of the job whose state decides the next step, if any. Pure. */
export function decisiveJob(record: CleanupRecord, { wait }: JobConfig, now: number): string | undefined {
  if (record.state === 'running') return wait ? record.job : undefined
  return record.state === 'failed' && retryAt(record) <= now ? record.job : undefined
}

/** The next step of the cleanup after an expiry. Pure. */
export function planCleanup(situation: CleanupSituation): CleanupStep {
  const { config, record, job, now } = situation
  if (!record) return { do: 'create', attempt: 1 }
  if (record.state === 'done') return { do: 'delete' }
  if (record.state === 'failed') {
    if (retryAt(record) > now) return { do: 'wait', until: retryAt(record) }
    // A job that was given up may still run; a second one would do the same work at the same time.
    if (job && !isFinished(job)) return { do: 'wait', until: now + MAX_RETRY_MS }
    if (job && conditionOf(job, 'Complete')) return { do: 'completed', record: doneAfter(record) }
    return { do: 'create', attempt: record.attempt + 1 }
  }
  return config.wait ? awaited(situation, record, job) : { do: 'completed', record: doneAfter(record) }
}

function retryAt(record: CleanupRecord): number {
  return parseTime(record.retryAt ?? '') ?? 0
}

function doneAfter({ job, expireAt, attempt }: CleanupRecord): CleanupRecord {
  return { ...(job !== undefined && { job }), expireAt, attempt, state: 'done' }
}

function awaited(situation: CleanupSituation, before: CleanupRecord, job: Stored<Job> | undefined): CleanupStep {
  const { config, now } = situation
  const fail = (how: JobFailure['how'], message: string): CleanupStep => ({
    do: 'failed',
    record: afterFailure(situation, before.attempt, before.job),
    failure: { how, message },
  })
  if (!job) return fail('failed', 'it is gone, and its result is unknown')
  const complete = conditionOf(job, 'Complete')
  if (complete) return { do: 'completed', record: doneAfter(before) }
  const late = `it did not finish within ${Math.ceil(config.timeout / 1_000)} s`
  const failed = conditionOf(job, 'Failed')
  if (failed?.reason === 'DeadlineExceeded') return fail('timeout', late)
  if (failed) return fail('failed', failed.message || failed.reason || 'its pods failed')
  const end = (parseTime(job.metadata.creationTimestamp) ?? now) + config.timeout + DEADLINE_SLACK_MS
  if (now < end) return { do: 'wait', until: end }
  const record = afterFailure(situation, before.attempt, before.job)
  const isTriedAgain = record.state === 'failed'
  return {
    do: 'failed',
    record: { ...record, ...(isTriedAgain && { givenUp: true }) },
    failure: { how: 'timeout', message: late },
  }
}

/** The record after failed attempt number `attempt`: a retry, or `done` if the object says to delete it anyway. */
export function afterFailure(
  { config, expireAt, now }: Pick<CleanupSituation, 'config' | 'expireAt' | 'now'>,
  attempt: number,
  job: string | undefined,
): CleanupRecord {
  const base = { ...(job !== undefined && { job }), expireAt, attempt }
  if (config.onFailure === 'delete') return { ...base, state: 'done' }
  const wait = Math.min(MIN_RETRY_MS * 2 ** Math.min(Math.max(attempt - 1, 0), 20), MAX_RETRY_MS)
  return { ...base, state: 'failed', retryAt: formatTime(now + wait) }
}

/** Whether the job has succeeded or finally failed. */
export function isFinished(job: Stored<Job>): boolean {
  return (conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed')) !== undefined
}

/** Seconds from the job's start to its end, if known. */
export function jobDuration(job: Stored<Job>): number | undefined {
  const start = parseTime(job.status?.startTime ?? '')
  const ended = conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed')
  const end = parseTime(job.status?.completionTime ?? ended?.lastTransitionTime ?? '')
  return start === undefined || end === undefined ? undefined : Math.max(end - start, 0) / 1_000
}

function conditionOf(job: Stored<Job>, type: string) {
  return job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True')
}
