import type { Stored } from '@tenure/kube'
import type { Pod, StatefulSet } from '@tenure/kube/kinds'
import { scaledIntOrPercent } from '../common/int-or-percent.ts'
import { isAvailable, isFinished, isReady } from '../common/pods.ts'

export const REVISION_LABEL = 'controller-revision-hash'

export type StatefulStep =
  /** Creates the pod of an ordinal from the current or the updated template. */
  | { readonly type: 'create'; readonly ordinal: number; readonly from: 'current' | 'update' }
  | { readonly type: 'delete'; readonly pod: Stored<Pod> }

export interface StatefulSetState {
  readonly set: Stored<StatefulSet>
  readonly pods: readonly Stored<Pod>[]
  readonly currentRevision: string
  readonly updateRevision: string
  readonly now: number
}

/** The ordinal of a pod; -1 if the pod does not belong to the set. */
export function ordinalOf(set: StatefulSet, pod: Pod): number {
  const prefix = `${set.metadata?.name ?? ''}-`
  const name = pod.metadata?.name ?? ''
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  return /^\d+$/.test(rest) ? Number(rest) : -1
}

export function ordinals(set: StatefulSet): { readonly start: number; readonly end: number } {
  const start = set.spec?.ordinals?.start ?? 0
  return { start, end: start + (set.spec?.replicas ?? 1) }
}

/** Plans the next steps: in order and one pod at a time, unless the policy is Parallel. */
export function planStatefulSet(state: StatefulSetState): readonly StatefulStep[] {
  const { pods, set } = state
  const { end, start } = ordinals(set)
  const isOrdered = (set.spec?.podManagementPolicy ?? 'OrderedReady') === 'OrderedReady'
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]))
  const steps: StatefulStep[] = []
  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal)
    const step = replicaStep(state, ordinal, pod)
    if (step) steps.push(step)
    const isInPlace = !step && pod !== undefined && isUp(state, pod)
    if (isOrdered && !isInPlace) return steps
  }
  if (steps.length > 0) return steps
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => ordinal >= 0 && (ordinal < start || ordinal >= end))
    .toSorted(([a], [b]) => b - a)
    .map(([, pod]) => pod)
  if (condemned.length > 0) {
    const shrink = condemnedSteps(state, condemned, isOrdered)
    if (shrink.length > 0 || isOrdered) return shrink
  }
  return updateSteps(state, byOrdinal)
}

function replicaStep(state: StatefulSetState, ordinal: number, pod: Stored<Pod> | undefined): StatefulStep | undefined {
  if (!pod) return { type: 'create', ordinal, from: templateFor(state, ordinal) }
  return isFinished(pod) && !pod.metadata.deletionTimestamp ? { type: 'delete', pod } : undefined
}

/** Pods below the partition keep the current template. */
function templateFor(
  { currentRevision, set, updateRevision }: StatefulSetState,
  ordinal: number,
): 'current' | 'update' {
  if (currentRevision === updateRevision) return 'update'
  const { start } = ordinals(set)
  const strategy = set.spec?.updateStrategy
  if ((strategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return 'update'
  const partition = strategy?.rollingUpdate?.partition
  const kept = partition ?? set.status?.currentReplicas ?? 0
  return ordinal < start + kept ? 'current' : 'update'
}

function condemnedSteps(
  state: StatefulSetState,
  condemned: readonly Stored<Pod>[],
  isOrdered: boolean,
): StatefulStep[] {
  if (!isOrdered) {
    return condemned.filter(({ metadata }) => !metadata.deletionTimestamp).map((pod) => ({ type: 'delete', pod }))
  }
  const [last] = condemned
  if (!last || last.metadata.deletionTimestamp) return []
  // An unavailable pod is deleted only if it is the first unavailable one.
  const firstDown = condemned.findLast((pod) => !isUp(state, pod))
  return isUp(state, last) || last === firstDown ? [{ type: 'delete', pod: last }] : []
}

/** Updates pods from the last to the partition, at most maxUnavailable at a time. */
function updateSteps(state: StatefulSetState, byOrdinal: ReadonlyMap<number, Stored<Pod>>): StatefulStep[] {
  const { set, updateRevision } = state
  const strategy = set.spec?.updateStrategy
  if ((strategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return []
  const { end, start } = ordinals(set)
  const total = end - start
  const maxUnavailable = Math.max(scaledIntOrPercent(strategy?.rollingUpdate?.maxUnavailable ?? 1, total, 'up'), 1)
  const replicas = Array.from({ length: total }, (_, index) => byOrdinal.get(start + index))
  let unavailable = replicas.filter((pod) => !pod || !isUp(state, pod)).length
  const steps: StatefulStep[] = []
  for (let index = total - 1; index >= (strategy?.rollingUpdate?.partition ?? 0); index--) {
    const pod = replicas[index]
    if (!pod || pod.metadata.deletionTimestamp || pod.metadata.labels?.[REVISION_LABEL] === updateRevision) continue
    if (isUp(state, pod)) {
      if (unavailable >= maxUnavailable) break
      unavailable++
    }
    steps.push({ type: 'delete', pod })
    if (steps.length >= maxUnavailable) break
  }
  return steps
}

/** True if the pod is running, available and not being deleted. */
export function isUp({ now, set }: StatefulSetState, pod: Stored<Pod>): boolean {
  const isHere = pod.status?.phase === 'Running' && !pod.metadata.deletionTimestamp
  return isHere && isReady(pod) && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)
}
