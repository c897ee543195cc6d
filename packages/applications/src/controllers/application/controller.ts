import { isDeepStrictEqual } from 'node:util'
import { asError, keyOf, type Stored } from '@tenure/kube'
import { Deployment, Job, Pod } from '@tenure/kube/kinds'
import {
  type Action,
  type Actions,
  type Backoff,
  controller,
  type ControllerDefinition,
  event,
  hasFinalizer,
  type ReconcileContext,
  remove,
  watch,
} from '@tenure/runtime'
import { Application, CONTROLLER_NAME, FINALIZER, isReported, REASONS } from '../../api/index.ts'
import { applicationKey, applicationOf, CHILD_KINDS, childNames, MANAGED_SELECTOR } from './children/index.ts'
import { type Observed, planChildren } from './plan.ts'
import { asRetryable, Failures, isUnremarkable } from './failures.ts'
import { checkNameConflicts } from './name-conflicts.ts'
import { planReport } from './status-report.ts'
import { rolloutOf } from './rollout.ts'
import { podFailureOf } from './pod-failure.ts'
import { failedStatus, statusOf } from './status.ts'

export interface ApplicationsControllerOptions {
  /** Namespace to watch. Default: all. */
  readonly namespace?: string | undefined
  /** Number of Applications reconciled at once. Default 32. */
  readonly concurrency?: number | undefined
  /** Backoff of failed reconciles. Default: 1, 2, 4, 8, 16 s and so on, then every minute. */
  readonly backoff?: Backoff | undefined
}

const DEFAULT_BACKOFF = { base: 1_000, max: 60_000 }
/** High, because a reconcile mostly waits for the API server. */
const DEFAULT_CONCURRENCY = 32
/** Above this many pending Applications, first status reports are delayed. */
const MAX_PENDING = 20
const FAILING_PODS = 'failingPods'

type Context = ReconcileContext<Application>

/** Creates the workload of each Application and reports its status. */
export function applicationsController(options: ApplicationsControllerOptions = {}): ControllerDefinition<Application> {
  const failures = new Failures()
  const pendingNew = new Set<string>()
  const selection = { ...MANAGED_SELECTOR, namespace: options.namespace }
  return controller(Application, {
    name: CONTROLLER_NAME,
    selection: { namespace: options.namespace },
    owns: CHILD_KINDS.map((kind) => ({ kind, selection })),
    watches: [watch(Pod, applicationsOfFailingPod, { selection, indexes: { [FAILING_PODS]: failingKeys } })],
    finalizer: FINALIZER,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    backoff: options.backoff ?? DEFAULT_BACKOFF,
    predicate: (object, old) => old === undefined || isChange(old, object, failures),
    reconcile: (context) => guarded(context, failures, () => reconcile(context, pendingNew)),
    cleanup: (context) => guarded(context, failures, () => cleanUp(context, failures)),
    deleted: (ref) => {
      failures.forget(keyOf(ref))
      pendingNew.delete(keyOf(ref))
    },
  })
}

/** Applies the children, then reports their state: the caches already show the writes. */
async function reconcile(context: Context, pendingNew: Set<string>): Promise<Actions<Application>> {
  const application = context.object
  const before = observe(context)
  const children = planChildren(application, before)
  await checkNameConflicts(children, context)
  await context.act(children)
  const after = observe(context)
  const status = statusOf(application, rolloutOf(application, after), context.now)
  const isNew = !isReported(application.status)
  const key = keyOf(application.metadata)
  if (isNew && status.phase === 'Pending') pendingNew.add(key)
  else pendingNew.delete(key)
  const isCreated = isNew && !workloadOf(before) && workloadOf(after)
  return [
    isCreated && created(`Created ${describe(children)}.`),
    ...planReport(application, status, context.now, pendingNew.size > MAX_PENDING),
  ]
}

/**
 * Removes the children. The garbage collector removes their pods, and children that the caches miss, by their owner
 * references. With the propagation policy Orphan the children stay.
 */
async function cleanUp(context: Context, failures: Failures): Promise<Actions<Application>> {
  const isOrphaning = hasFinalizer(context.object, 'orphan')
  const removals = isOrphaning
    ? []
    : CHILD_KINDS.flatMap((kind) =>
        context.owned(kind).map((live) => remove(kind, live, { propagation: 'Background' })),
      )
  const message = `Removing ${describe(removals)}.`
  const isFirstAttempt = removals.length > 0 && !failures.has(keyOf(context.object.metadata))
  await context.act([isFirstAttempt && event({ type: 'Normal', reason: REASONS.cleanup, message }), ...removals])
  return [event({ type: 'Normal', reason: REASONS.deleted, message: 'Cleanup finished; the finalizer is removed.' })]
}

/** Reports a failure in the status and an event before the retry. */
async function guarded(
  context: Context,
  failures: Failures,
  work: () => Promise<Actions<Application>>,
): Promise<Actions<Application>> {
  const key = keyOf(context.object.metadata)
  try {
    const actions = await work()
    failures.forget(key)
    return actions
  } catch (error) {
    if (!isUnremarkable(error, context.signal) && failures.note(key, error)) {
      const application = context.object
      const rollout = rolloutOf(application, observe(context))
      const status = failedStatus(application, rollout, asError(error).message, context.now)
      failures.report(key, status)
      try {
        const isFirst = !isReported(application.status)
        await context.act([
          isFirst && created('No objects created yet.'),
          ...planReport(application, status, context.now),
        ])
      } catch (second) {
        context.log.warn('failure report failed', { error: asError(second) })
      }
    }
    throw asRetryable(error)
  }
}

function observe({ byIndex, object, owned }: Context): Observed {
  const { workload } = childNames(object.metadata.name)
  return {
    deployment: owned(Deployment, workload),
    job: owned(Job, workload),
    failingPods: byIndex(Pod, FAILING_PODS, keyOf(object.metadata)),
    owned: (kind) => owned(kind),
  }
}

const workloadOf = ({ deployment, job }: Observed): boolean => deployment !== undefined || job !== undefined

/** Changes that matter to the plan: not labels and annotations, nor the echo of the controller's own writes. */
function isChange(old: Stored<Application>, object: Stored<Application>, failures: Failures): boolean {
  const { generation, deletionTimestamp } = object.metadata
  return (
    generation !== old.metadata.generation ||
    deletionTimestamp !== old.metadata.deletionTimestamp ||
    !hasFinalizer(object, FINALIZER) ||
    !(isDeepStrictEqual(old.status, object.status) || failures.isReport(keyOf(object.metadata), object.status))
  )
}

/** Maps a pod to its Application when it begins or stops to fail: the runtime asks for both states of a change. */
function applicationsOfFailingPod(pod: Stored<Pod>) {
  const application = podFailureOf(pod) && applicationOf(pod.metadata)
  return application ? [application] : []
}

function failingKeys(pod: Stored<Pod>): readonly string[] {
  const key = podFailureOf(pod) && applicationKey(pod.metadata)
  return key ? [key] : []
}

const created = (message: string) => event({ type: 'Normal', reason: REASONS.created, message })

/** `ConfigMap shop-config, Deployment shop`. */
function describe(actions: readonly Action<Application>[]): string {
  return actions
    .map((action) => {
      if (action.type === 'apply') return `${action.kind.kind} ${action.object.metadata?.name ?? ''}`
      return action.type === 'remove' ? `${action.kind.kind} ${action.ref.name}` : action.type
    })
    .join(', ')
}
