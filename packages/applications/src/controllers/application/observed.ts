import { keyOf, type KubeObject, type Stored } from '@tenure/kube'
import { Deployment, Job, Pod } from '@tenure/kube/kinds'
import type { PlanContext } from '@tenure/runtime'
import type { Application } from '../../api/index.ts'
import { type CHILD_KINDS, childNames } from './children/index.ts'

/** Index of pods that fail to become ready, by the key of their Application. */
export const FAILING_PODS = 'failingPods'

/** Current children and pods of an Application. */
export interface Observed {
  readonly deployment: Stored<Deployment> | undefined
  readonly job: Stored<Job> | undefined
  /** Pods that fail to become ready. */
  readonly failingPods: readonly Stored<Pod>[]
  /** All children of a kind. */
  owned(kind: (typeof CHILD_KINDS)[number]): readonly Stored<KubeObject>[]
}

/** Reads the caches. */
export function observe({
  byIndex,
  object,
  owned,
}: Pick<PlanContext<Application>, 'byIndex' | 'object' | 'owned'>): Observed {
  const { workload } = childNames(object.metadata.name)
  return {
    deployment: owned(Deployment, workload),
    job: owned(Job, workload),
    failingPods: byIndex(Pod, FAILING_PODS, keyOf(object.metadata)),
    owned: (kind) => owned(kind),
  }
}
