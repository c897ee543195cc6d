import type { Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import type { Deployment, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { isFinished } from '../common/pods.ts'
import {
  annotationsFor,
  totalReplicas,
  DESIRED_REPLICAS,
  isRolling,
  MAX_REPLICAS,
  maxSurge,
  maxUnavailable,
  newSetOf,
  newSetSize,
  oldestFirst,
  replicasAnnotations,
  replicasOf,
  revisionOf,
  type Sets,
} from './deployment-sets.ts'

/** A planned change; each is one API call. */
export type DeploymentStep =
  /** Creates the set of the current template. */
  | { readonly type: 'create'; readonly replicas: number; readonly revision: bigint }
  | { readonly type: 'resize'; readonly set: Stored<ReplicaSet>; readonly replicas: number }
  /** Updates the annotations and minReadySeconds that the current set takes from the Deployment. */
  | { readonly type: 'sync'; readonly set: Stored<ReplicaSet>; readonly annotations: Readonly<Record<string, string>> }
  | { readonly type: 'remove'; readonly set: Stored<ReplicaSet> }

export interface DeploymentState {
  readonly deployment: Stored<Deployment>
  readonly sets: Sets
  /** The pods of a set; used only for Recreate. */
  readonly podsOf: (set: Stored<ReplicaSet>) => readonly Stored<Pod>[]
}

/** Plans the next steps of a rollout. */
export function planDeployment(state: DeploymentState): readonly DeploymentStep[] {
  const { deployment, sets } = state
  const newSet = newSetOf(deployment, sets)
  const old = sets.filter((set) => set !== newSet)
  const sync = newSet && syncStep(deployment, newSet, old)
  if (sync) return [sync]
  if (deployment.spec?.paused) {
    return [...scaleSteps(deployment, newSet, old), ...cleanUp(deployment, old)]
  }
  if (isScaled(deployment, sets)) return scaleSteps(deployment, newSet, old)
  return isRolling(deployment) ? roll(deployment, newSet, old) : recreate(state, newSet, old)
}

function syncStep(deployment: Deployment, set: Stored<ReplicaSet>, old: Sets): DeploymentStep | undefined {
  const annotations = annotationsFor(deployment, set, newRevision(old))
  const isSame =
    isDeepEqual(annotations, set.metadata.annotations ?? {}) &&
    (set.spec?.minReadySeconds ?? 0) === (deployment.spec?.minReadySeconds ?? 0)
  return isSame ? undefined : { type: 'sync', set, annotations }
}

function newRevision(old: Sets): bigint {
  return old.map(revisionOf).reduce((highest, one) => (one > highest ? one : highest), 0n) + 1n
}

/** True if the Deployment was scaled after its sets were sized. */
function isScaled(deployment: Deployment, sets: Sets): boolean {
  return sets.some((set) => {
    const desired = set.metadata.annotations?.[DESIRED_REPLICAS]
    return replicasOf(set) > 0 && desired !== undefined && Number(desired) !== replicasOf(deployment)
  })
}

function resize(set: Stored<ReplicaSet>, replicas: number): DeploymentStep[] {
  return replicasOf(set) === replicas ? [] : [{ type: 'resize', set, replicas }]
}

// ---- scaling, in proportion during a rollout ----

function scaleSteps(
  deployment: Stored<Deployment>,
  newSet: Stored<ReplicaSet> | undefined,
  old: Sets,
): DeploymentStep[] {
  const all = newSet ? [...old, newSet] : old
  const active = all.filter((set) => replicasOf(set) > 0)
  const only = active.length > 1 ? undefined : (active[0] ?? newSet ?? oldestFirst(old).at(-1))
  const wanted = replicasOf(deployment)
  if (only) {
    return needsAnnotations(deployment, only) || replicasOf(only) !== wanted
      ? [{ type: 'resize', set: only, replicas: wanted }]
      : []
  }
  if (newSet && isSaturated(deployment, newSet)) {
    return active.filter((set) => set !== newSet).flatMap((set) => resize(set, 0))
  }
  return isRolling(deployment) ? proportional(deployment, active) : []
}

function needsAnnotations(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = replicasAnnotations(deployment)
  return Object.entries(wanted).some(([key, value]) => set.metadata?.annotations?.[key] !== value)
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = replicasOf(deployment)
  return (
    replicasOf(set) === wanted &&
    Number(set.metadata?.annotations?.[DESIRED_REPLICAS]) === wanted &&
    (set.status?.availableReplicas ?? 0) === wanted
  )
}

function proportional(deployment: Stored<Deployment>, active: Sets): DeploymentStep[] {
  const wanted = replicasOf(deployment)
  const toAdd = (wanted > 0 ? wanted + maxSurge(deployment) : 0) - totalReplicas(active)
  const ordered = toAdd > 0 ? oldestFirst(active).toReversed() : [...oldestFirst(active)]
  const bySize = ordered.toSorted((a, b) => replicasOf(b) - replicasOf(a))
  let added = 0
  const sizes = bySize.map((set) => {
    const share = toAdd === 0 || toAdd === added ? 0 : shareOf(deployment, set)
    const proportion = toAdd > 0 ? Math.min(share, toAdd - added) : Math.max(share, toAdd - added)
    added += proportion
    return replicasOf(set) + proportion
  })
  // The largest set takes the rounding remainder.
  if (sizes[0] !== undefined) sizes[0] = Math.max(sizes[0] + toAdd - added, 0)
  return bySize.flatMap((set, index): DeploymentStep[] => {
    const replicas = sizes[index] ?? 0
    return replicas === replicasOf(set) && !needsAnnotations(deployment, set) ? [] : [{ type: 'resize', set, replicas }]
  })
}

function shareOf(deployment: Deployment, set: ReplicaSet): number {
  const size = replicasOf(set)
  if (replicasOf(deployment) === 0) return -size
  const before = Number(set.metadata?.annotations?.[MAX_REPLICAS]) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  return Math.round((size * (replicasOf(deployment) + maxSurge(deployment))) / before) - size
}

// ---- rolling ----

function roll(deployment: Stored<Deployment>, newSet: Stored<ReplicaSet> | undefined, old: Sets): DeploymentStep[] {
  if (!newSet) return [{ type: 'create', replicas: newSetSize(deployment, old, 0), revision: newRevision(old) }]
  const all = [...old, newSet]
  const wanted = replicasOf(deployment)
  const size = replicasOf(newSet)
  const grow = resize(newSet, size > wanted ? wanted : newSetSize(deployment, all, size))
  if (grow.length > 0) return grow
  const shrink = shrinkOld(deployment, newSet, old)
  return shrink.length > 0 ? shrink : isComplete(deployment) ? cleanUp(deployment, old) : []
}

/** Scales old sets down: unhealthy pods first, then as many as availability permits. */
function shrinkOld(deployment: Deployment, newSet: Stored<ReplicaSet>, old: Sets): DeploymentStep[] {
  const sizes = new Map(
    oldestFirst(old).flatMap((set) => (replicasOf(set) > 0 ? [[set, replicasOf(set)] as const] : [])),
  )
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment)
  const newUnavailable = replicasOf(newSet) - available(newSet)
  let unhealthy = totalReplicas([...old, newSet]) - minAvailable - newUnavailable
  if (unhealthy <= 0) return []
  for (const [set, size] of sizes) {
    const gone = Math.min(unhealthy, Math.max(size - available(set), 0))
    sizes.set(set, size - gone)
    unhealthy -= gone
  }
  let spare = available(newSet) + old.reduce((sum, set) => sum + available(set), 0) - minAvailable
  for (const [set, size] of sizes) {
    if (spare <= 0) break
    const gone = Math.min(size, spare)
    sizes.set(set, size - gone)
    spare -= gone
  }
  return [...sizes].flatMap(([set, size]) => resize(set, size))
}

function available(set: ReplicaSet): number {
  return set.status?.availableReplicas ?? 0
}

// ---- recreating ----

function recreate(state: DeploymentState, newSet: Stored<ReplicaSet> | undefined, old: Sets): DeploymentStep[] {
  const { deployment, podsOf } = state
  const running = old.filter((set) => replicasOf(set) > 0)
  if (running.length > 0) return running.flatMap((set) => resize(set, 0))
  if (old.some((set) => podsOf(set).some((pod) => !isFinished(pod)))) return []
  if (!newSet) return [{ type: 'create', replicas: replicasOf(deployment), revision: newRevision(old) }]
  const grow = resize(newSet, replicasOf(deployment))
  return grow.length > 0 ? grow : isComplete(deployment) ? cleanUp(deployment, old) : []
}

/** True if all replicas exist, are up to date and available. */
export function isComplete(deployment: Deployment, status = deployment.status): boolean {
  const wanted = replicasOf(deployment)
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata?.generation ?? 0)
  )
}

/** Removes old sets beyond revisionHistoryLimit, oldest revision first. */
function cleanUp(deployment: Deployment, old: Sets): DeploymentStep[] {
  const limit = deployment.spec?.revisionHistoryLimit ?? 10
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp)
  return alive
    .toSorted((a, b) => (revisionOf(a) < revisionOf(b) ? -1 : revisionOf(a) > revisionOf(b) ? 1 : 0))
    .slice(0, Math.max(alive.length - limit, 0))
    .filter(
      (set) =>
        (set.status?.replicas ?? 0) === 0 &&
        replicasOf(set) === 0 &&
        (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    )
    .map((set) => ({ type: 'remove', set }))
}
