import type { Pod, StatefulSet } from '@tenure/kube/kinds'
import { podFailureOf } from '@tenure/kube/model'

/** How far a StatefulSet is. */
export type DatabaseRollout =
  | { readonly state: 'ready' }
  | { readonly state: 'progressing' }
  /** `reason` is a sentence for a person, with the reason of the kubelet or the scheduler in it. */
  | { readonly state: 'failing'; readonly reason: string }

export function rolloutOf(statefulSet: StatefulSet | undefined, pods: readonly Pod[]): DatabaseRollout {
  if (!statefulSet || statefulSet.metadata?.deletionTimestamp !== undefined) return { state: 'progressing' }
  const { metadata, spec, status } = statefulSet
  const wanted = spec?.replicas ?? 1
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
  const isUpdated = (status?.updateRevision ?? '') === (status?.currentRevision ?? '')
  const ready = status?.readyReplicas ?? 0
  if (isObserved && isUpdated && ready === wanted && (status?.replicas ?? 0) === wanted) return { state: 'ready' }
  for (const pod of pods) {
    const failure = podFailureOf(pod)
    if (failure) return { state: 'failing', reason: `${failure.reason}: ${failure.message}` }
  }
  return { state: 'progressing' }
}
