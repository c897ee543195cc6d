import type { Pod, StatefulSet } from '@tenure/kube/kinds'
import { podFailureOf } from '@tenure/kube/model'
import { parseTime } from '@tenure/runtime'

/** A pod whose volume is being made is unschedulable for a moment, so that is a failure only after this time. */
const MIN_UNSCHEDULABLE_MS = 10_000

/** How far a StatefulSet is. */
export type DatabaseRollout =
  | { readonly state: 'ready' }
  /** `recheckAfter`: milliseconds after which it counts as failing if nothing changes. */
  | { readonly state: 'progressing'; readonly recheckAfter?: number }
  /** `reason` is a sentence for a person, with the reason of the kubelet or the scheduler in it. */
  | { readonly state: 'failing'; readonly reason: string }

/** Pure: `now` is milliseconds since 1970. */
export function rolloutOf(statefulSet: StatefulSet | undefined, pods: readonly Pod[], now: number): DatabaseRollout {
  if (!statefulSet || statefulSet.metadata?.deletionTimestamp !== undefined) return { state: 'progressing' }
  const { metadata, spec, status } = statefulSet
  const wanted = spec?.replicas ?? 1
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
  const isUpdated = (status?.updateRevision ?? '') === (status?.currentRevision ?? '')
  const ready = status?.readyReplicas ?? 0
  if (isObserved && isUpdated && ready === wanted && (status?.replicas ?? 0) === wanted) return { state: 'ready' }
  let recheckAfter = Infinity
  for (const pod of pods) {
    const failure = podFailureOf(pod)
    if (!failure) continue
    const wait = failure.isFatal ? 0 : unschedulableSince(pod, now) + MIN_UNSCHEDULABLE_MS - now
    if (wait <= 0) return { state: 'failing', reason: `${failure.reason}: ${failure.message}` }
    recheckAfter = Math.min(recheckAfter, wait)
  }
  return { state: 'progressing', ...(Number.isFinite(recheckAfter) && { recheckAfter }) }
}

function unschedulableSince({ status }: Pod, now: number): number {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return parseTime(scheduled?.lastTransitionTime ?? '') ?? now
}
