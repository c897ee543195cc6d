import { ApiError, isNotFound, keyOf, type ObjectRef, refTo, type Stored } from '@tenure/kube'
import { Job } from '@tenure/kube/kinds'
import type { Requeue } from '@tenure/runtime'
import { type LeaseFamily } from '../../../api/annotations.ts'
import { JOB_LABELS } from '../../../api/labels.ts'
import { EVENT_REASONS } from '../../../api/reasons.ts'
import { DELETING, EXPIRED, withFollowedGeneration } from '../status.ts'
import type { DatedLease } from '../terms.ts'
import { patchAnnotations } from '../patch-annotations.ts'
import type { Leased, LeaseContext } from '../context.ts'
import { formatTime } from '../../../api/time.ts'
import type { HeldJobs } from './held-jobs.ts'
import { type CleanupSubject, heldJob } from './job.ts'
import type { JobConfig } from './job-config.ts'
import { createJob } from './create-job.ts'
import {
  afterFailure,
  type CleanupStep,
  isFinished,
  type JobFailure,
  jobDuration,
  decisiveJob,
  planCleanup,
} from './plan.ts'
import { type CleanupRecord, printRecord, readRecord } from './record.ts'

/** Poll interval of a job while jobs are watched, and while they cannot be. */
const WATCHED_POLL_MS = 60_000
const UNWATCHED_POLL_MS = 5_000
/** Interval of retries while the controller may not manage Jobs: a granted right announces itself by no event. */
const DENIED_RETRY_MS = 30_000
/** More steps than a cleanup has: create, record, complete. */
const MAX_STEPS = 5

/** An object with an expired lease, as just read. */
export interface ExpiredObject {
  readonly object: Leased
  readonly lease: DatedLease
  readonly config: JobConfig
  /** The server's time: by a local clock that runs ahead, a job would time out as it starts. */
  readonly now: number
}

/** A job that an object waits for. */
interface AwaitedJob {
  /** Key of the object. */
  readonly key: string
  /** The finished job, as last seen. */
  finished: Stored<Job> | undefined
}

/** Runs cleanup jobs before deletions. Waiting blocks no worker: a change of the job wakes the object's key. */
export class Cleanup {
  readonly #context: LeaseContext
  readonly #held: HeldJobs
  readonly #wake: (key: string) => void
  /** Awaited jobs, by `namespace/name`. */
  readonly #awaited = new Map<string, AwaitedJob>()
  /** The awaited job of an object, by its key. */
  readonly #awaitedBy = new Map<string, string>()
  readonly #watched = new Map<string, () => void>()

  constructor(context: LeaseContext, held: HeldJobs, wake: (key: string) => void) {
    this.#context = context
    this.#held = held
    this.#wake = wake
  }

  close(): void {
    for (const end of this.#watched.values()) end()
    this.#watched.clear()
    this.#awaited.clear()
    this.#awaitedBy.clear()
  }

  /** Whether an object waits for a job. */
  isWaiting(key: string): boolean {
    return this.#awaitedBy.has(key)
  }

  forget(key: string): void {
    const job = this.#awaitedBy.get(key)
    if (job === undefined) return
    this.#awaitedBy.delete(key)
    this.#awaited.delete(job)
  }

  /** Advances the cleanup of an object as far as possible now. */
  async step(key: string, expired: ExpiredObject, signal: AbortSignal): Promise<Requeue | 'ready' | undefined> {
    let current = expired
    try {
      for (let count = 0; count < MAX_STEPS; count++) {
        const next = await this.#plan(key, current, signal)
        if (next.step.do === 'wait') {
          const left = Math.max(next.step.until - expired.now, 0)
          return { requeueAfter: Math.min(left, this.#pollInterval(expired.lease.family, next.record)) }
        }
        if (next.step.do === 'delete') return 'ready'
        const object = await this.#carryOut(current, next.step, next.job, signal)
        if (!object) return undefined
        current = { ...expired, object }
      }
      return { requeueAfter: UNWATCHED_POLL_MS }
    } catch (error) {
      const verb = deniedVerb(error)
      if (verb === undefined) throw error
      // Not an error of the controller: all other leases are managed.
      await this.#reportDenied(current, verb, signal)
      return { requeueAfter: DENIED_RETRY_MS }
    } finally {
      // The record may hold the job's result by now, so the job may be released.
      this.#held.settle(key)
    }
  }

  async #plan(key: string, { object, lease, config, now }: ExpiredObject, signal: AbortSignal) {
    const expireAt = formatTime(lease.expireAt)
    const record = readRecord(object.metadata.annotations?.[lease.family.names.cleanup], expireAt)
    const name = record && decisiveJob(record, config, now)
    let job: Stored<Job> | undefined
    if (record?.state === 'running' && record.job !== undefined) {
      const held = heldJob({ object, kind: this.#context.kind, ...lease }, config, record.attempt)
      this.#held.hold(key, object, { ...held, ref: { ...held.ref, name: record.job } })
    }
    if (name !== undefined) {
      const ref = { name, namespace: object.metadata.namespace }
      // Subscribes before the read, so that the end of the job is not missed.
      const awaited = this.#await(key, keyOf(ref))
      this.#watchJobs(lease.family)
      // With a short job-ttl the job may be gone as soon as it has finished.
      job = (await this.#job(ref, signal)) ?? awaited.finished
    }
    const step = planCleanup({ config, expireAt, record, job, now })
    return { step, record, job }
  }

  /** Carries out one step and records it. Undefined if the object is gone. */
  async #carryOut(
    expired: ExpiredObject,
    step: Exclude<CleanupStep, { readonly do: 'delete' | 'wait' }>,
    job: Stored<Job> | undefined,
    signal: AbortSignal,
  ): Promise<Leased | undefined> {
    const { metrics, recordEvent } = this.#context
    const { object, lease, config } = expired
    if (step.do === 'create') return this.#create(expired, step.attempt, signal)
    if (step.do === 'failed') {
      const written = await this.#fail(object, lease, step.record, step.failure, signal)
      if (written) this.#observe(job)
      return written
    }
    const written = await this.#write(object, lease, step.record, DELETING, signal)
    if (!written || !config.wait) return written
    metrics.jobsCompleted.inc()
    this.#observe(job)
    const message = `The cleanup job ${step.record.job ?? ''} completed.`
    recordEvent(written, { type: 'Normal', reason: EVENT_REASONS.jobCompleted, message })
    return written
  }

  async #create(expired: ExpiredObject, attempt: number, signal: AbortSignal): Promise<Leased | undefined> {
    const { kind, metrics, recordEvent } = this.#context
    const { object, lease, config, now } = expired
    const subject: CleanupSubject = { object, kind, ...lease }
    const job = heldJob(subject, config, attempt)
    const result = await this.#createHeld(subject, config, attempt, signal)
    if (result.how === 'invalid' || result.how === 'forbidden') {
      // Nothing is deleted without a cleanup that was forbidden.
      const onFailure = result.how === 'forbidden' ? 'keep' : config.onFailure
      const situation = { config: { ...config, onFailure }, expireAt: formatTime(lease.expireAt), now } as const
      // No job was created, but the delay grows with each attempt.
      const record = afterFailure(situation, attempt, undefined)
      return this.#fail(object, lease, record, { how: 'invalid', message: result.message }, signal)
    }
    if (result.how === 'created') {
      metrics.jobsCreated.inc()
      const message = `The cleanup job ${job.ref.name} was created.`
      recordEvent(object, { type: 'Normal', reason: EVENT_REASONS.jobCreated, message })
    }
    const { name } = job.ref
    const record: CleanupRecord = {
      job: name,
      expireAt: formatTime(lease.expireAt),
      attempt,
      state: config.wait ? 'running' : 'done',
    }
    const status = config.wait ? `${EXPIRED} Waiting for cleanup job ${name}.` : DELETING
    return this.#write(object, lease, record, status, signal)
  }

  /** Creates the job. It is held before, because the response may be lost. */
  async #createHeld(subject: CleanupSubject, config: JobConfig, attempt: number, signal: AbortSignal) {
    const { object } = subject
    const job = heldJob(subject, config, attempt)
    this.#held.hold(keyOf(refTo(object)), object, job)
    try {
      const result = await createJob(this.#context, subject, config, attempt, signal)
      if (result.how === 'invalid' || result.how === 'forbidden') this.#held.drop(job)
      return result
    } catch (error) {
      if (deniedVerb(error) !== undefined) this.#held.drop(job)
      throw error
    }
  }

  /** Shows on the object why it is kept until the right is granted. */
  async #reportDenied({ object, lease: { family } }: ExpiredObject, verb: string, signal: AbortSignal): Promise<void> {
    const name = family.names.status
    const message = `The cleanup job cannot be run: the lease controller may not ${verb} Jobs; set cleanup in the LeaseController. Object is kept.`
    const status = `${EXPIRED} ${message}`
    if (object.metadata.annotations?.[name] === status) return
    const changes = withFollowedGeneration(object, family, { [name]: status })
    const written = await patchAnnotations(this.#context, object, changes, signal)
    if (written) this.#context.recordEvent(written, { type: 'Warning', reason: EVENT_REASONS.jobInvalid, message })
  }

  async #fail(
    object: Leased,
    lease: DatedLease,
    record: CleanupRecord,
    failure: JobFailure,
    signal: AbortSignal,
  ): Promise<Leased | undefined> {
    const { metrics, recordEvent } = this.#context
    const what =
      failure.how === 'invalid'
        ? `The cleanup job cannot be run: ${failure.message}.`
        : `The cleanup job ${record.job ?? ''} failed: ${failure.message}.`
    const then =
      record.state === 'done' ? 'Deleting object.' : `Object is kept; next try at ${record.retryAt ?? ''} UTC.`
    const written = await this.#write(object, lease, record, `${EXPIRED} ${what} ${then}`, signal)
    if (!written) return undefined
    if (failure.how !== 'invalid') metrics.jobsFailed.inc()
    recordEvent(written, { type: 'Warning', reason: FAILURE_REASON[failure.how], message: `${what} ${then}` })
    return written
  }

  #write(
    object: Leased,
    { family }: DatedLease,
    record: CleanupRecord,
    status: string,
    signal: AbortSignal,
  ): Promise<Leased | undefined> {
    const changes = withFollowedGeneration(object, family, {
      [family.names.cleanup]: printRecord(record),
      [family.names.status]: status,
    })
    return patchAnnotations(this.#context, object, changes, signal)
  }

  #observe(job: Stored<Job> | undefined): void {
    const duration = job && jobDuration(job)
    if (duration !== undefined) this.#context.metrics.jobDuration.observe(duration)
  }

  async #job(ref: ObjectRef, signal: AbortSignal): Promise<Stored<Job> | undefined> {
    try {
      return await this.#context.api.get(Job, ref, { signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  #await(key: string, job: string): AwaitedJob {
    const known = this.#awaited.get(job)
    if (known) return known
    this.forget(key)
    const awaited: AwaitedJob = { key, finished: undefined }
    this.#awaited.set(job, awaited)
    this.#awaitedBy.set(key, job)
    return awaited
  }

  /** Poll interval. */
  #pollInterval(family: LeaseFamily, record: CleanupRecord | undefined): number {
    return record?.state !== 'running' || this.#watchJobs(family) ? WATCHED_POLL_MS : UNWATCHED_POLL_MS
  }

  /** Starts watching the cleanup jobs of a family on first use; returns whether the watch is live. */
  #watchJobs(family: LeaseFamily): boolean {
    const labelSelector = `${family.prefix}${JOB_LABELS.isCleanup}=true`
    const informer = this.#context.informers.informer(Job, { labelSelector })
    if (!this.#watched.has(labelSelector)) {
      const end = informer.subscribe(({ object }) => {
        const awaited = this.#awaited.get(keyOf(refTo(object)))
        if (!awaited) return
        if (isFinished(object)) awaited.finished = object
        this.#wake(awaited.key)
      })
      this.#watched.set(labelSelector, end)
    }
    return informer.health.state === 'live'
  }
}

/** The verb on Jobs that the controller lacks; undefined if the error has another reason. */
function deniedVerb(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 403) return undefined
  const { group, resource, verb } = error.deniedAccess ?? {}
  return group === Job.group && resource === Job.plural ? verb : undefined
}

const FAILURE_REASON: Readonly<Record<JobFailure['how'], string>> = {
  failed: EVENT_REASONS.jobFailed,
  timeout: EVENT_REASONS.jobTimeout,
  invalid: EVENT_REASONS.jobInvalid,
}
