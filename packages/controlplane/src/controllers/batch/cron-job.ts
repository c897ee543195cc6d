import { asError, isAlreadyExists, isNotFound, type Stored } from '@tenure/kube'
import { CronJob, Job } from '@tenure/kube/kinds'
import { controller, type ReconcileContext, requeueAt, rfc3339 } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { conditionOf, hasTrue } from '../common/conditions.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { controllerOf, controllerReference } from '../common/owners.ts'
import { updateStatus } from '../common/status.ts'
import { CronSchedule } from '../../cron/cron-schedule.ts'
import { isJobFinished } from './job-plan.ts'

type Context = ReconcileContext<CronJob>
type Status = NonNullable<CronJob['status']>

/** Maximum number of missed times that are walked through one by one. */
const MAX_MISSED_TIMES = 100

/** Creates the Jobs of CronJobs at their scheduled times. */
export const cronJobs = builtIn('cronjob', (context) => {
  const events = context.recorderFor('cronjob-controller')
  return controller(CronJob, {
    name: 'cronjob',
    owns: [Job],
    // Not a plan: the status lists a Job by the uid that its creation returns.
    reconcile: (context) => reconcile(context, events),
  })
})

async function reconcile(context: Context, events: ObjectEvents): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, now, object: cron, owned, signal } = context
  const jobs = owned(Job).filter((job) => controllerOf(job)?.uid === cron.metadata.uid)
  await removeOld(context, jobs, events)
  let status = withoutFinishedJobs(cron, jobs, events)
  let next: number | undefined
  try {
    const due = scheduleTimes(cron, now)
    next = due.next
    if (due.last !== undefined && !cron.spec?.suspend) status = await start(context, due.last, status, jobs, events)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = `unparseable schedule: ${JSON.stringify(cron.spec?.schedule)} : ${error.message}`
    events.record(cron, 'Warning', 'UnparseableSchedule', message)
  }
  await updateStatus(api, CronJob, cron, status, signal)
  return next === undefined || cron.spec?.suspend ? [] : [requeueAt(next)]
}

/** The latest missed time and the next time, in milliseconds. */
function scheduleTimes(
  cron: Stored<CronJob>,
  now: number,
): { readonly last: number | undefined; readonly next: number | undefined } {
  const { schedule, startingDeadlineSeconds, timeZone } = cron.spec ?? {}
  const times = new CronSchedule(schedule, timeZone)
  const earliest = startingDeadlineSeconds === undefined ? -Infinity : now - startingDeadlineSeconds * 1000
  const since = Date.parse(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp)
  let last: number | undefined
  let at = times.next(Math.max(since, earliest))
  for (let missed = 0; at !== undefined && at <= now; missed++) {
    last = at
    // After many missed times only the last hour counts.
    at = times.next(missed === MAX_MISSED_TIMES ? Math.max(at, now - 3_600_000) : at)
  }
  return { last, next: at }
}

async function start(
  context: Context,
  due: number,
  status: Status,
  jobs: readonly Stored<Job>[],
  events: ObjectEvents,
): Promise<Status> {
  const { api, object: cron, signal } = context
  const policy = cron.spec?.concurrencyPolicy ?? 'Allow'
  let active = status.active ?? []
  if (policy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
    events.record(cron, 'Normal', 'JobAlreadyActive', message)
    return status
  }
  if (policy === 'Replace') {
    for (const job of jobs.filter(({ metadata }) => active.some(({ uid }) => uid === metadata.uid))) {
      await removeJob(context, job, events)
    }
    active = []
  }
  const lastScheduleTime = rfc3339(due)
  try {
    const created = await api.create(Job, newJob(cron, due), { signal })
    events.record(cron, 'Normal', 'SuccessfulCreate', `Created job ${created.metadata.name}`)
    return { ...status, active: [...active, referenceTo(created)], lastScheduleTime }
  } catch (error) {
    if (isAlreadyExists(error)) return { ...status, lastScheduleTime }
    events.record(cron, 'Warning', 'FailedCreate', `Error creating job: ${asError(error).message}`)
    throw error
  }
}

function newJob(cron: Stored<CronJob>, due: number): Job {
  const { metadata, spec } = cron.spec?.jobTemplate ?? {}
  const time = rfc3339(due)
  return {
    metadata: {
      name: `${cron.metadata.name}-${Math.floor(due / 60_000)}`,
      ...(cron.metadata.namespace && { namespace: cron.metadata.namespace }),
      ...(metadata?.labels && { labels: metadata.labels }),
      annotations: { ...metadata?.annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': time },
      ownerReferences: [controllerReference(CronJob, cron)],
    },
    ...(spec && { spec }),
  }
}

function referenceTo(job: Stored<Job>): NonNullable<Status['active']>[number] {
  const { name, namespace = '', resourceVersion, uid } = job.metadata
  return { kind: 'Job', apiVersion: 'batch/v1', namespace, name, uid, resourceVersion }
}

/** Removes finished and missing Jobs from `active` and updates lastSuccessfulTime. */
function withoutFinishedJobs(cron: Stored<CronJob>, jobs: readonly Stored<Job>[], events: ObjectEvents): Status {
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const { active = [], lastSuccessfulTime, ...rest } = cron.status ?? {}
  const left = active.filter(({ name, uid = '' }) => {
    const job = byUid.get(uid)
    if (job && !isJobFinished(job)) return true
    const type = conditionOf(job?.status?.conditions, 'Complete') ? 'Complete' : 'Failed'
    if (job) events.record(cron, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${type}`)
    else events.record(cron, 'Normal', 'MissingJob', `Active job went missing: ${name}`)
    return false
  })
  const ends = jobs.flatMap(({ status }) => status?.completionTime ?? []).toSorted()
  const latest = [lastSuccessfulTime, ends.at(-1)]
    .filter((time) => time !== undefined)
    .toSorted()
    .at(-1)
  return { ...rest, ...(left.length > 0 && { active: left }), ...(latest && { lastSuccessfulTime: latest }) }
}

async function removeOld(context: Context, jobs: readonly Stored<Job>[], events: ObjectEvents): Promise<void> {
  const { failedJobsHistoryLimit = 1, successfulJobsHistoryLimit = 3 } = context.object.spec ?? {}
  for (const [type, limit] of [
    ['Complete', successfulJobsHistoryLimit],
    ['Failed', failedJobsHistoryLimit],
  ] as const) {
    const ended = jobs
      .filter((job) => hasTrue(job.status?.conditions, type))
      .toSorted((a, b) => Date.parse(a.status?.startTime ?? '') - Date.parse(b.status?.startTime ?? ''))
    for (const job of ended.slice(0, Math.max(ended.length - limit, 0))) await removeJob(context, job, events)
  }
}

async function removeJob(
  { api, object: cron, signal }: Context,
  job: Stored<Job>,
  events: ObjectEvents,
): Promise<void> {
  const { deletionTimestamp, name, uid } = job.metadata
  if (deletionTimestamp) return
  await api
    .delete(Job, job.metadata, { preconditions: { uid }, propagation: 'Background', signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  events.record(cron, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
}
