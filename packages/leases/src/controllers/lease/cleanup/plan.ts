import type { Stored } from '@tenure/kube'
import type { Job } from '@tenure/kube/kinds'
import { formatTime, parseTime } from '../../../api/time.ts'
import type { JobConfig } from './job-config.ts'
import type { CleanupRecord } from './record.ts'

export interface CleanupSituation {
  readonly config: JobConfig
  /** When the lease ended, as it stands on the object. */
  readonly expireAt: string
  /** Of this expiry. */
  readonly record: CleanupRecord | undefined
  /** The job that is to be `lookedAt`, undefined if it is gone. */
  readonly job: Stored<Job> | undefined
  /** By the server's clock. */
  readonly now: number
}

/** ConditionReason a job did not do its work. */
export type JobFailure = { readonly how: 'failed' | 'timeout' | 'invalid'; readonly message: string }

export type CleanupStep =
  /** The object may be deleted. */
  | { readonly do: 'delete' }
  | { readonly do: 'create'; readonly attempt: number }
  /** Nothing is to be done before `until`, unless the job or the object changes. */
  | { readonly do: 'wait'; readonly until: number }
  /** The job succeeded: write that down. */
  | { readonly do: 'completed'; readonly record: CleanupRecord }
  /** The job did not: write that down. */
  | { readonly do: 'failed'; readonly record: CleanupRecord; readonly failure: JobFailure }

/** What the job controller may take to notice that a job's time is up. */
const SLACK = 60_000
const FIRST_RETRY = 10_000
const LONGEST_RETRY = 600_000

/** The name of the job whose state decides the next step; undefined if none does. Pure. */
export function lookedAt(record: CleanupRecord, { wait }: JobConfig, now: number): string | undefined {
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
    // Given up is not ended: another beside it would do the same work at the same time.
    if (job && !hasEnded(job)) return { do: 'wait', until: now + LONGEST_RETRY }
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
  if (!job) return fail('failed', 'it is gone, and nobody saw how it ended')
  const complete = conditionOf(job, 'Complete')
  if (complete) return { do: 'completed', record: doneAfter(before) }
  const late = `it did not finish within ${Math.ceil(config.timeout / 1_000)} s`
  const failed = conditionOf(job, 'Failed')
  if (failed?.reason === 'DeadlineExceeded') return fail('timeout', late)
  if (failed) return fail('failed', failed.message || failed.reason || 'its pods failed')
  const end = (parseTime(job.metadata.creationTimestamp) ?? now) + config.timeout + SLACK
  if (now < end) return { do: 'wait', until: end }
  const record = afterFailure(situation, before.attempt, before.job)
  const isTriedAgain = record.state === 'failed'
  return {
    do: 'failed',
    record: { ...record, ...(isTriedAgain && { givenUp: true }) },
    failure: { how: 'timeout', message: late },
  }
}

/** The record after attempt number `attempt` came to nothing: tried again later, or given up if the object says so. */
export function afterFailure(
  { config, expireAt, now }: Pick<CleanupSituation, 'config' | 'expireAt' | 'now'>,
  attempt: number,
  job: string | undefined,
): CleanupRecord {
  const base = { ...(job !== undefined && { job }), expireAt, attempt }
  if (config.onFailure === 'delete') return { ...base, state: 'done' }
  const wait = Math.min(FIRST_RETRY * 2 ** Math.min(Math.max(attempt - 1, 0), 20), LONGEST_RETRY)
  return { ...base, state: 'failed', retryAt: formatTime(now + wait) }
}

/** Whether it has succeeded or failed for good. */
export function hasEnded(job: Stored<Job>): boolean {
  return (conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed')) !== undefined
}

/** Seconds from the job's start to its end, undefined if it does not say. */
export function jobDuration(job: Stored<Job>): number | undefined {
  const start = parseTime(job.status?.startTime ?? '')
  const ended = conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed')
  const end = parseTime(job.status?.completionTime ?? ended?.lastTransitionTime ?? '')
  return start === undefined || end === undefined ? undefined : Math.max(end - start, 0) / 1_000
}

function conditionOf(job: Stored<Job>, type: string) {
  return job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True')
}
