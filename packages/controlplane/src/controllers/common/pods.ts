import type { Kind, KubeObject, Stored } from '@tenure/kube'
import type { Pod, PodTemplateSpec } from '@tenure/kube/kinds'
import { conditionOf } from './conditions.ts'
import { controllerReference } from './owners.ts'

export const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'

export function isReady(pod: Pod): boolean {
  return conditionOf(pod.status?.conditions, 'Ready')?.status === 'True'
}

/** The time at which a ready pod becomes available, in milliseconds; undefined while it is not ready. */
export function availableAt(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready')
  if (ready?.status !== 'True') return undefined
  if (minReadySeconds === 0) return -Infinity
  return ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) + minReadySeconds * 1000 : undefined
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const at = availableAt(pod, minReadySeconds)
  return at !== undefined && at <= now
}

/** The next time at which one of the ready pods becomes available, in milliseconds. */
export function nextAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds === 0) return undefined
  let next: number | undefined
  for (const pod of pods) {
    const at = availableAt(pod, minReadySeconds)
    if (at !== undefined && at > now) next = Math.min(at, next ?? Infinity)
  }
  return next
}

export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

export function isActive(pod: Stored<Pod>): boolean {
  return !isFinished(pod) && !pod.metadata.deletionTimestamp
}

export function isTerminating(pod: Stored<Pod>): boolean {
  return !isFinished(pod) && Boolean(pod.metadata.deletionTimestamp)
}

export interface PodFromTemplateOptions {
  readonly ownerKind: Kind
  readonly owner: Stored<KubeObject>
  readonly template: PodTemplateSpec | undefined
  /** Default: the owner's name with a dash. */
  readonly generateName?: string
}

export function podFromTemplate({ ownerKind, owner, template, generateName }: PodFromTemplateOptions): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {}
  return {
    metadata: {
      generateName: generateName ?? prefixFor(owner.metadata.name),
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(ownerKind, owner)],
    },
    ...(template?.spec && { spec: template.spec }),
  }
}

/** As upstream, a name that is too long gets no dash. */
function prefixFor(name: string): string {
  return name.length < 253 ? `${name}-` : name
}

/**
 * Orders pods for scale-down as upstream's ActivePodsWithRanks: pods that matter least come first. `podsOnNode` returns
 * the number of pods of the same owner on a pod's node.
 */
export function compareForDeletion(a: Stored<Pod>, b: Stored<Pod>, podsOnNode: (pod: Pod) => number): number {
  return (
    Number(Boolean(a.spec?.nodeName)) - Number(Boolean(b.spec?.nodeName)) ||
    phaseRank(a) - phaseRank(b) ||
    Number(isReady(a)) - Number(isReady(b)) ||
    deletionCost(a) - deletionCost(b) ||
    podsOnNode(b) - podsOnNode(a) ||
    byAge(readySince(a), readySince(b)) ||
    restarts(b) - restarts(a) ||
    byAge(Date.parse(a.metadata.creationTimestamp), Date.parse(b.metadata.creationTimestamp)) ||
    (a.metadata.uid < b.metadata.uid ? -1 : 1)
  )
}

function phaseRank(pod: Pod): number {
  return pod.status?.phase === 'Pending' || !pod.status?.phase ? 0 : pod.status.phase === 'Unknown' ? 1 : 2
}

function deletionCost(pod: Pod): number {
  const cost = Number(pod.metadata?.annotations?.[DELETION_COST] ?? 0)
  return Number.isInteger(cost) ? cost : 0
}

function readySince(pod: Pod): number {
  const ready = conditionOf(pod.status?.conditions, 'Ready')
  return ready?.status === 'True' && ready.lastTransitionTime ? Date.parse(ready.lastTransitionTime) : 0
}

function restarts(pod: Pod): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount))
}

/** Younger first; unknown times (0) count as youngest. */
function byAge(a: number, b: number): number {
  if (a === b) return 0
  if (a === 0) return -1
  if (b === 0) return 1
  return b - a
}
