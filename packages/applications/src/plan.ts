import type { KubeObject, Stored } from '@tenure/kube'
import { type Deployment, Job, PersistentVolumeClaim, type Pod } from '@tenure/kube/kinds'
import { type Action, apply, type ApplyAction, remove } from '@tenure/runtime'
import type { Application } from './api.ts'
import { type Child, CHILD_KINDS, childrenFor, isOutdated } from './children/index.ts'

/** What is seen of an Application's workload. */
export interface Observed {
  readonly deployment: Stored<Deployment> | undefined
  readonly job: Stored<Job> | undefined
  /** Its pods that are in some trouble. */
  readonly troubled: readonly Stored<Pod>[]
  /** All its objects of a kind. */
  owned(kind: (typeof CHILD_KINDS)[number]): readonly Stored<KubeObject>[]
}

/** What is to be done so that an Application has the objects that it describes, and no others. */
export function planChildren(application: Stored<Application>, observed: Observed): readonly Action<Application>[] {
  const { metadata, spec } = application
  const wanted = childrenFor(metadata.name, spec, observed.deployment)
  return [...removals(wanted, observed), ...wanted.filter((child) => !isBlocked(child, observed)).map(applyChild)]
}

function applyChild({ kind, object }: Child): ApplyAction {
  return apply(kind, object)
}

/** What is ours and no longer described. Never a claim: data is not lost by an edit, only with the Application. */
function removals(wanted: readonly Child[], observed: Observed): readonly Action<Application>[] {
  return CHILD_KINDS.filter((kind) => kind !== PersistentVolumeClaim).flatMap((kind) =>
    observed
      .owned(kind)
      .filter((live) => isUnwanted(live, wanted, kind))
      .map((live) => remove(kind, live, { ifUnchanged: true, propagation: 'Background' })),
  )
}

function isUnwanted(live: Stored<KubeObject>, wanted: readonly Child[], kind: (typeof CHILD_KINDS)[number]): boolean {
  const child = wanted.find((other) => other.kind === kind && other.object.metadata?.name === live.metadata.name)
  return child === undefined || (kind === Job && isOutdated(live, child.object))
}

/** A Job that waits for its predecessor to go. */
function isBlocked(child: Child, { job }: Observed): boolean {
  return child.kind === Job && job !== undefined && isOutdated(job, child.object)
}
