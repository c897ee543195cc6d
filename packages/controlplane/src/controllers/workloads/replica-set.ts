import { asError, isNotFound, type KubeApi, type Stored } from '@tenure/kube'
import { Pod, ReplicaSet, type ReplicaSetStatus } from '@tenure/kube/kinds'
import { controller, isNamespaceTerminating, type ReconcileContext, requeueAt, watch } from '@tenure/runtime'
import { builtIn } from '../component.ts'
import { claim, matcherOf, toPossibleAdopters } from '../common/claim.ts'
import { conditionOf, withCondition, withoutCondition } from '../common/conditions.ts'
import type { ObjectEvents } from '../common/core-events.ts'
import { hasLabels } from '../common/labels.ts'
import { controllerOf, ORPHANS, orphanIndex } from '../common/owners.ts'
import {
  compareForDeletion,
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  nextAvailable,
  podFromTemplate,
} from '../common/pods.ts'
import { slowStart } from '../common/slow-start.ts'
import { count, updateStatus } from '../common/status.ts'

/** Maximum number of pods that one reconcile creates or deletes. */
const MAX_BURST_REPLICAS = 500

/** Creates and deletes the pods of ReplicaSets. */
export const replicaSets = builtIn('replicaset', (context) => {
  const events = context.recorderFor('replicaset-controller')
  return controller(ReplicaSet, {
    name: 'replicaset',
    owns: [Pod],
    watches: [watch(Pod, toPossibleAdopters, { indexes: { [ORPHANS]: orphanIndex } })],
    concurrency: 8,
    // Not a plan: adopted objects and the outcome of creations decide the status, an Update conditional on resourceVersion.
    reconcile: (context) => reconcile(context, events),
  })
})

type Context = ReconcileContext<ReplicaSet>

async function reconcile(context: Context, events: ObjectEvents): Promise<ReturnType<typeof requeueAt>[]> {
  const { api, object: set, signal } = context
  const claimed = await claimPods(context)
  const active = claimed.filter(isActive)
  const failure = await scale(context, active, events)
  const after = failure === undefined && active.length === wanted(set) ? claimed : podsOf(context)
  const status = statusOf(set, after, failure, context.now)
  await updateStatus(api, ReplicaSet, set, status, signal)
  if (failure) throw failure.error
  const next = nextAvailable(after, set.spec?.minReadySeconds ?? 0, context.now)
  return next === undefined ? [] : [requeueAt(next)]
}

function wanted(set: ReplicaSet): number {
  return set.spec?.replicas ?? 1
}

function claimPods({ api, byIndex, object: set, owned, signal }: Context): Promise<Stored<Pod>[]> {
  return claim({
    api,
    ownerKind: ReplicaSet,
    owner: set,
    selector: matcherOf(set.spec?.selector),
    kind: Pod,
    owned: owned(Pod),
    orphans: byIndex(Pod, ORPHANS, set.metadata.namespace ?? ''),
    signal,
    adoptable: isActive,
  })
}

/** Pods of the cache, which already shows this reconcile's writes. */
function podsOf({ object: set, owned }: Context): readonly Stored<Pod>[] {
  const selector = matcherOf(set.spec?.selector)
  return owned(Pod).filter(
    (pod) => controllerOf(pod)?.uid === set.metadata.uid && selector?.matches(pod.metadata.labels),
  )
}

interface Failure {
  readonly reason: 'FailedCreate' | 'FailedDelete'
  readonly error: Error
}

async function scale(context: Context, active: Stored<Pod>[], events: ObjectEvents): Promise<Failure | undefined> {
  const { api, object: set, signal } = context
  const missing = wanted(set) - active.length
  if (missing > 0) {
    const pod = podFromTemplate({ ownerKind: ReplicaSet, owner: set, template: set.spec?.template })
    const { error } = await slowStart(Math.min(missing, MAX_BURST_REPLICAS), () =>
      createPod(api, set, pod, events, signal),
    )
    if (error === undefined || isNamespaceTerminating(error)) return undefined
    return { reason: 'FailedCreate', error: asError(error) }
  }
  if (missing === 0) return undefined
  const excess = choose(context, active, Math.min(-missing, MAX_BURST_REPLICAS))
  const results = await Promise.allSettled(excess.map((pod) => deletePod(api, set, pod, events, signal)))
  const failed = results.find((result) => result.status === 'rejected')
  return failed && { reason: 'FailedDelete', error: asError(failed.reason) }
}

/** Chooses the pods to delete. Pods on nodes with many pods of the same owner come first. */
function choose({ object: set, owned }: Context, active: Stored<Pod>[], excess: number): Stored<Pod>[] {
  if (excess >= active.length) return active
  const podsByNode = new Map<string, number>()
  for (const pod of owned(Pod)) {
    if (!isActive(pod) || controllerOf(pod)?.uid !== set.metadata.uid) continue
    const node = pod.spec?.nodeName ?? ''
    podsByNode.set(node, (podsByNode.get(node) ?? 0) + 1)
  }
  const onNode = (pod: Pod): number => podsByNode.get(pod.spec?.nodeName ?? '') ?? 0
  return active.toSorted((a, b) => compareForDeletion(a, b, onNode)).slice(0, excess)
}

async function createPod(
  api: KubeApi,
  owner: Stored<ReplicaSet>,
  pod: Pod,
  events: ObjectEvents,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { metadata } = await api.create(Pod, pod, { signal })
    events.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`)
  } catch (error) {
    if (!isNamespaceTerminating(error)) {
      events.record(owner, 'Warning', 'FailedCreate', `Error creating: ${asError(error).message}`)
    }
    throw error
  }
}

async function deletePod(
  api: KubeApi,
  owner: Stored<ReplicaSet>,
  pod: Stored<Pod>,
  events: ObjectEvents,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.delete(Pod, pod.metadata, { preconditions: { uid: pod.metadata.uid }, signal })
    events.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
  } catch (error) {
    if (isNotFound(error)) return
    events.record(owner, 'Warning', 'FailedDelete', `Error deleting: ${asError(error).message}`)
    throw error
  }
}

function statusOf(
  set: Stored<ReplicaSet>,
  pods: readonly Stored<Pod>[],
  failure: Failure | undefined,
  now: number,
): ReplicaSetStatus {
  const active = pods.filter(isActive)
  const templateLabels = set.spec?.template?.metadata?.labels
  const isFullyLabeled = (pod: Pod): boolean => hasLabels(pod.metadata?.labels, templateLabels)
  const minReady = set.spec?.minReadySeconds ?? 0
  const before = set.status?.conditions
  const isFailed = conditionOf(before, 'ReplicaFailure') !== undefined
  const conditions = failure
    ? isFailed
      ? before
      : withCondition(
          before,
          { type: 'ReplicaFailure', status: 'True', reason: failure.reason, message: failure.error.message },
          now,
        )
    : isFailed
      ? withoutCondition(before, 'ReplicaFailure')
      : before
  return {
    replicas: active.length,
    ...count('fullyLabeledReplicas', active.filter(isFullyLabeled).length),
    ...count('readyReplicas', active.filter(isReady).length),
    ...count('availableReplicas', active.filter((pod) => isAvailable(pod, minReady, now)).length),
    terminatingReplicas: pods.filter(isTerminating).length,
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    ...(conditions && conditions.length > 0 && { conditions }),
  }
}
