import { asError, isNotFound, keyOf, type Stored } from '@tenure/kube'
import { Job, Pod } from '@tenure/kube/kinds'
import {
  type Component,
  controller,
  isNamespaceTerminating,
  OWNER_UID_INDEX,
  QueueWorker,
  type ReconcileContext,
  remove,
  requeueAt,
  watch,
} from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { claim, matcherOf, toPossibleAdopters } from '../common/claim.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { controllerOf, ORPHANS, orphanIndex } from '../common/owners.ts'
import { updateStatus } from '../common/status.ts'
import { conditionOf } from '../common/conditions.ts'
import { informerWorker } from '../informer-worker.ts'
import type { ControlPlaneContext } from '../context.ts'
import { isTracked, newJobPod, untrack } from './job-pods.ts'
import { isJobFinished, planJob } from './job-plan.ts'

type Context = ReconcileContext<Job>

/** Runs the pods of Jobs to completion. */
export const jobs = builtIn('job', (context) => {
  const events = context.recorderFor('job-controller')
  return controller(Job, {
    name: 'job',
    owns: [Pod],
    watches: [watch(Pod, toPossibleAdopters, { indexes: { [ORPHANS]: orphanIndex } })],
    // Not a plan: the status is written before the finalizers of pods are removed, so that a crash counts no pod twice.
    reconcile: (context) => reconcile(context, events),
  })
})

async function reconcile(context: Context, events: ObjectEvents): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, byIndex, now, object: job, owned, signal } = context
  const isManagedByOthers = job.spec?.managedBy !== undefined && job.spec.managedBy !== 'kubernetes.io/job-controller'
  if (isJobFinished(job) || isManagedByOthers) return []
  const pods = await claim({
    api,
    ownerKind: Job,
    owner: job,
    selector: matcherOf(job.spec?.selector),
    kind: Pod,
    owned: owned(Pod),
    orphans: byIndex(Pod, ORPHANS, job.metadata.namespace ?? ''),
    signal,
  })
  const plan = planJob({ job, pods, now })
  await updateStatus(api, Job, job, plan.status, signal)
  for (const { message, reason, type } of plan.events) events.record(job, type, reason, message)
  await Promise.all(plan.untrack.map((pod) => untrack(api, pod, signal)))
  await Promise.all(plan.remove.map((pod) => removePod(context, pod, events)))
  const results = await Promise.allSettled(plan.create.map((index) => createPod(context, index, events)))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed && !isNamespaceTerminating(failed.reason)) throw asError(failed.reason)
  // The removed finalizers cause another reconcile, which counts the pods.
  return plan.at === undefined ? [] : [requeueAt(plan.at)]
}

async function createPod(
  { api, object: job, signal }: Context,
  index: number | undefined,
  events: ObjectEvents,
): Promise<void> {
  try {
    const { metadata } = await api.create(Pod, newJobPod(job, index), { signal })
    events.record(job, 'Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`)
  } catch (error) {
    if (!isNamespaceTerminating(error)) {
      events.record(job, 'Warning', 'FailedCreate', `Error creating: ${asError(error).message}`)
    }
    throw error
  }
}

async function removePod({ api, object: job, signal }: Context, pod: Stored<Pod>, events: ObjectEvents): Promise<void> {
  try {
    await api.delete(Pod, pod.metadata, { preconditions: { uid: pod.metadata.uid }, signal })
    events.record(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Removes the tracking finalizer from pods whose Job is deleted or finished, because no controller counts them. */
export function orphanedJobPods(context: ControlPlaneContext): Component {
  const { clock, controllers: api, informers, log, metrics } = context
  const pods = informers.informer(Pod)
  const jobInformer = informers.informer(Job)
  const worker = new QueueWorker({
    name: 'orphaned-job-pods',
    clock,
    log,
    metrics,
    work: async (key, { signal }) => {
      const pod = pods.cache.getByKey(key)
      if (!pod || !isTracked(pod)) return
      const owner = controllerOf(pod)
      const name = owner?.kind === 'Job' ? owner.name : undefined
      const job = name === undefined ? undefined : jobInformer.cache.get({ name, namespace: pod.metadata.namespace })
      const isCounted =
        job?.metadata.uid === owner?.uid && job && !job.metadata.deletionTimestamp && !isJobFinished(job)
      if (!isCounted) await untrack(api, pod, signal)
    },
  })
  return informerWorker({
    worker,
    informers: [pods, jobInformer],
    subscribe: () => [
      pods.subscribe(({ object, type }) => {
        if (type !== 'deleted' && isTracked(object)) worker.add(keyOf(object.metadata))
      }),
      jobInformer.subscribe(({ object, type }) => {
        if (type !== 'deleted' && !object.metadata.deletionTimestamp && !isJobFinished(object)) return
        for (const pod of pods.cache.byIndex(OWNER_UID_INDEX, object.metadata.uid)) worker.add(keyOf(pod.metadata))
      }),
    ],
  })
}

/** Deletes finished Jobs after ttlSecondsAfterFinished. */
export const jobExpiry = builtIn('ttl-after-finished', () =>
  controller(Job, {
    name: 'ttl-after-finished',
    expiresAt: (job) => {
      const ttl = job.spec?.ttlSecondsAfterFinished
      if (ttl === undefined || !isJobFinished(job)) return undefined
      const { conditions } = job.status ?? {}
      const end = conditionOf(conditions, 'Complete') ?? conditionOf(conditions, 'Failed')
      return Date.parse(end?.lastTransitionTime ?? job.metadata.creationTimestamp) + ttl * 1000
    },
    expire: ({ object: job }) => [remove(Job, job, { propagation: 'Foreground' })],
  }),
)
