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
import { refuseTakenNames } from './name-conflicts.ts'
import { planReport } from './status-report.ts'
import { rolloutOf } from './rollout.ts'
import { troubleOf } from './pod-failure.ts'
import { failedStatus, statusOf } from './status.ts'

export interface ApplicationsControllerOptions {
  /** Applications of this namespace only. Default: of all. */
  readonly namespace?: string | undefined
  /** Applications worked on at once. Default 32. */
  readonly concurrency?: number | undefined
  /** Waits between tries of what fails. Default: 1, 2, 4, 8, 16 s and so on, then every minute. */
  readonly backoff?: Backoff | undefined
}

const BACKOFF = { base: 1_000, max: 60_000 }
/** The API server is who works; we mostly wait for it. */
const CONCURRENCY = 32
/** So many that begin at once are a crowd. */
const CROWD = 20
const TROUBLED = 'troubled'

type Context = ReconcileContext<Application>

/** The controller that makes a workload of every Application, and reports on it. */
export function applicationsController(options: ApplicationsControllerOptions = {}): ControllerDefinition<Application> {
  const failures = new Failures()
  const newcomers = new Set<string>()
  const selection = { ...MANAGED_SELECTOR, namespace: options.namespace }
  return controller(Application, {
    name: CONTROLLER_NAME,
    selection: { namespace: options.namespace },
    owns: CHILD_KINDS.map((kind) => ({ kind, selection })),
    watches: [watch(Pod, concernedBy, { selection, indexes: { [TROUBLED]: troubledKeys } })],
    finalizer: FINALIZER,
    concurrency: options.concurrency ?? CONCURRENCY,
    backoff: options.backoff ?? BACKOFF,
    changed: (old, object) => isChange(old, object, failures),
    reconcile: (context) => guarded(context, failures, () => reconcile(context, newcomers)),
    cleanup: (context) => guarded(context, failures, () => cleanUp(context, failures)),
    deleted: (ref) => {
      failures.forget(keyOf(ref))
      newcomers.delete(keyOf(ref))
    },
  })
}

/** Children first, then what became of them: the caches already show what was written. */
async function reconcile(context: Context, newcomers: Set<string>): Promise<Actions<Application>> {
  const application = context.object
  const before = observe(context)
  const children = planChildren(application, before)
  await refuseTakenNames(children, context)
  await context.act(children)
  const after = observe(context)
  const status = statusOf(application, rolloutOf(application, after), context.now)
  const isNew = !isReported(application.status)
  const key = keyOf(application.metadata)
  if (isNew && status.phase === 'Pending') newcomers.add(key)
  else newcomers.delete(key)
  const isCreated = isNew && !workloadOf(before) && workloadOf(after)
  return [
    isCreated && created(`${describe(children)} made.`),
    ...planReport(application, status, context.now, newcomers.size > CROWD),
  ]
}

/**
 * Removes the children. Their own children, the pods, are left to the garbage collector, as would be what our caches
 * miss: it all has owner references. Whoever deletes an Application without its dependents gets just that.
 */
async function cleanUp(context: Context, failures: Failures): Promise<Actions<Application>> {
  const isOrphaning = hasFinalizer(context.object, 'orphan')
  const removals = isOrphaning
    ? []
    : CHILD_KINDS.flatMap((kind) =>
        context.owned(kind).map((live) => remove(kind, live, { propagation: 'Background' })),
      )
  const message = `Removing ${describe(removals)}.`
  const isNews = removals.length > 0 && !failures.has(keyOf(context.object.metadata))
  await context.act([isNews && event({ type: 'Normal', reason: REASONS.cleanup, message }), ...removals])
  return [event({ type: 'Normal', reason: REASONS.deleted, message: 'Cleaned up; the Application goes.' })]
}

/** Tells people of a failure, in the status and an event, before it is tried again. */
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
        await context.act([isFirst && created('Nothing made yet.'), ...planReport(application, status, context.now)])
      } catch (second) {
        context.log.warn('failure could not be reported', { error: asError(second) })
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
    troubled: byIndex(Pod, TROUBLED, keyOf(object.metadata)),
    owned: (kind) => owned(kind),
  }
}

const workloadOf = ({ deployment, job }: Observed): boolean => deployment !== undefined || job !== undefined

/** What a plan depends on: labels and annotations do not matter, nor do the traces of our own work. */
function isChange(old: Stored<Application>, object: Stored<Application>, failures: Failures): boolean {
  const { generation, deletionTimestamp } = object.metadata
  return (
    generation !== old.metadata.generation ||
    deletionTimestamp !== old.metadata.deletionTimestamp ||
    !hasFinalizer(object, FINALIZER) ||
    !(isDeepStrictEqual(old.status, object.status) || failures.isReport(keyOf(object.metadata), object.status))
  )
}

/** A pod matters when it gets into trouble, and when it gets out: of a change, both sides are asked. */
function concernedBy(pod: Stored<Pod>) {
  const application = troubleOf(pod) && applicationOf(pod.metadata)
  return application ? [application] : []
}

function troubledKeys(pod: Stored<Pod>): readonly string[] {
  const key = troubleOf(pod) && applicationKey(pod.metadata)
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
