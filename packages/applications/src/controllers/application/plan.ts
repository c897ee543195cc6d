import type { Kind, KubeObject, Stored } from '@tenure/kube'
import {
  ConfigMap,
  type Deployment,
  HorizontalPodAutoscaler,
  Job,
  PersistentVolumeClaim,
  type Pod,
} from '@tenure/kube/kinds'
import { type Action, apply, type ApplyAction, remove, type RemoveAction } from '@tenure/runtime'
import { ANNOTATIONS, type Application } from '../../api/index.ts'
import { type Child, CHILD_KINDS, childrenFor, isOutdated, podRevision } from './children/index.ts'
import { isOver } from './run-once.ts'

/** What is seen of an Application's workload. */
export interface Observed {
  readonly deployment: Stored<Deployment> | undefined
  readonly job: Stored<Job> | undefined
  /** Its pods that are in some trouble. */
  readonly troubled: readonly Stored<Pod>[]
  /** All its objects of a kind. */
  owned(kind: (typeof CHILD_KINDS)[number]): readonly Stored<KubeObject>[]
}

/**
 * What is to be done so that an Application has the objects that it describes, and no others. Nothing is taken away
 * before what takes its place is there: if that is refused, what runs goes on running.
 */
export function planChildren(application: Stored<Application>, observed: Observed): readonly Action<Application>[] {
  const { metadata, spec } = application
  const wanted = childrenFor(metadata.name, spec, observed.deployment)
  const isRunOver = isOver(application, observed.job)
  const unwanted = unwantedOf(wanted, observed).filter(
    ({ kind }) => !(isRunOver && kind === Job) && !isNeeded(kind, application, observed),
  )
  return [
    ...unwanted.filter(isInTheWay).map(removeChild),
    ...wanted.filter((child) => !(isRunOver && child.kind === Job) && !isBlocked(child, observed)).map(applyChild),
    ...unwanted.filter((live) => !isInTheWay(live)).map(removeChild),
  ]
}

/** An object that is there. */
interface LiveChild {
  readonly kind: (typeof CHILD_KINDS)[number]
  readonly object: Stored<KubeObject>
}

function applyChild({ kind, object }: Child): ApplyAction {
  return apply(kind, object)
}

function removeChild({ kind, object }: LiveChild): RemoveAction {
  return remove(kind, object, { ifUnchanged: true, propagation: 'Background' })
}

/** What is ours and no longer described. Never a claim: data is not lost by an edit, only with the Application. */
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

/** An autoscaler that goes would undo the number that is about to be said. */
function isInTheWay({ kind }: LiveChild): boolean {
  return kind === HorizontalPodAutoscaler
}

/** Configuration that pods of an earlier description need to start again: it goes after the last of them. */
function isNeeded(kind: Kind, { metadata, spec }: Stored<Application>, { deployment }: Observed): boolean {
  if (kind !== ConfigMap || !deployment || spec.run === 'Once') return false
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = deployment.status ?? {}
  const revision = deployment.spec?.template.metadata?.annotations?.[ANNOTATIONS.revision]
  return (
    revision !== podRevision(metadata.name, spec) ||
    observedGeneration < (deployment.metadata.generation ?? 0) ||
    updatedReplicas < replicas
  )
}

/** A Job that waits for its predecessor to go. */
function isBlocked(child: Child, { job }: Observed): boolean {
  return child.kind === Job && job !== undefined && isOutdated(job, child.object)
}
