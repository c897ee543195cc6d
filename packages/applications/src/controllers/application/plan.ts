import type { Kind, KubeObject, Stored } from '@tenure/kube'
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Job, PersistentVolumeClaim } from '@tenure/kube/kinds'
import {
  type Action,
  type Actions,
  apply,
  type ApplyAction,
  event,
  type PlanContext,
  remove,
  type RemoveAction,
} from '@tenure/runtime'
import { ANNOTATIONS, type Application, isReported, REASONS } from '../../api/index.ts'
import { type Child, CHILD_KINDS, childrenFor, isOutdated, podRevision } from './children/index.ts'
import { describeActions } from './describe-actions.ts'
import { nameConflict } from './name-conflicts.ts'
import { observe, type Observed } from './observed.ts'
import { announceRollout, isFirstGeneration } from './rollout-events.ts'
import { isFinished } from './run-once.ts'

/** Applies and removes children; the event comes last, so that it is recorded only if every action succeeded. */
export function planApplication(
  context: Pick<PlanContext<Application>, 'byIndex' | 'object' | 'owned'>,
): Actions<Application> {
  const { object } = context
  const observed = observe(context)
  const actions = planChildren(object, observed)
  const isCreated =
    !isReported(object.status) &&
    !observed.deployment &&
    !observed.job &&
    actions.some((action) => action.type === 'apply' && (action.kind === Deployment || action.kind === Job))
  const message = `Created ${describeActions(actions)}.`
  return [
    ...actions,
    isCreated && event({ type: 'Normal', reason: REASONS.created, message }),
    // The status report announces the rollout of a later generation.
    isCreated && isFirstGeneration(object) && announceRollout(object.spec),
  ]
}

/**
 * Actions that turn the current children into the desired ones. Removals come after the applies: if an apply is refused,
 * the old children keep running.
 */
export function planChildren(application: Stored<Application>, observed: Observed): readonly Action<Application>[] {
  const { metadata, spec } = application
  const wanted = childrenFor(metadata.name, spec, observed.deployment)
  const isRunOver = isFinished(application, observed.job)
  const unwanted = unwantedOf(wanted, observed).filter(
    ({ kind }) => !(isRunOver && kind === Job) && !isStillNeeded(kind, application, observed),
  )
  return [
    ...unwanted.filter(mustGoFirst).map(removeChild),
    ...wanted
      .filter((child) => !(isRunOver && child.kind === Job) && !isBlocked(child, observed))
      .map((child) => applyChild(application, child)),
    ...unwanted.filter((live) => !mustGoFirst(live)).map(removeChild),
  ]
}

/** An existing child. */
interface LiveChild {
  readonly kind: (typeof CHILD_KINDS)[number]
  readonly object: Stored<KubeObject>
}

function applyChild(application: Stored<Application>, { kind, object }: Child): ApplyAction {
  return apply(kind, object, { adopt: (existing) => nameConflict(application, kind, existing) })
}

function removeChild({ kind, object }: LiveChild): RemoveAction {
  return remove(kind, object, { ifUnchanged: true, propagation: 'Background' })
}

/** Children that the spec no longer describes. Never a claim: an edit does not delete data. */
function unwantedOf(wanted: readonly Child[], observed: Observed): readonly LiveChild[] {
  return CHILD_KINDS.filter((kind) => kind !== PersistentVolumeClaim).flatMap((kind) =>
    observed
      .owned(kind)
      .map((object) => ({ kind, object }))
      .filter((live) => isUnwanted(live, wanted)),
  )
}

function isUnwanted({ kind, object }: LiveChild, wanted: readonly Child[]): boolean {
  const child = wanted.find((other) => other.kind === kind && other.object.metadata?.name === object.metadata.name)
  return child === undefined || (kind === Job && isOutdated(object, child.object))
}

/** An autoscaler must be removed before replicas are applied, or it would overwrite them. */
function mustGoFirst({ kind }: LiveChild): boolean {
  return kind === HorizontalPodAutoscaler
}

/** Pods of an earlier revision need their ConfigMap to restart: it is removed after the last of them. */
function isStillNeeded(kind: Kind, { metadata, spec }: Stored<Application>, { deployment }: Observed): boolean {
  if (kind !== ConfigMap || !deployment || spec.run === 'Once') return false
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = deployment.status ?? {}
  const revision = deployment.spec?.template.metadata?.annotations?.[ANNOTATIONS.revision]
  return (
    revision !== podRevision(metadata.name, spec) ||
    observedGeneration < (deployment.metadata.generation ?? 0) ||
    updatedReplicas < replicas
  )
}

/** A Job cannot be applied before its predecessor is deleted. */
function isBlocked(child: Child, { job }: Observed): boolean {
  return child.kind === Job && job !== undefined && isOutdated(job, child.object)
}
