import type { Stored } from '@tenure/kube'
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@tenure/kube/kinds'
import { rfc3339 } from '@tenure/runtime'
import { conditionOf, withoutCondition } from '../common/conditions.ts'
import { count } from '../common/status.ts'
import { isComplete } from './deployment-plan.ts'
import { totalReplicas, maxUnavailable, newSetOf, replicasOf, type Sets } from './deployment-sets.ts'

type Conditions = readonly DeploymentCondition[]

export interface DeploymentStatusInput {
  readonly deployment: Stored<Deployment>
  readonly sets: Sets
  /** The set that this reconcile created. */
  readonly created?: Stored<ReplicaSet> | undefined
  /** Message of a failed creation. */
  readonly failure?: string | undefined
  readonly now: number
}

/** Computes the status of a Deployment from its sets. */
export function deploymentStatus(input: DeploymentStatusInput): DeploymentStatus {
  const { deployment, sets, now } = input
  const newSet = newSetOf(deployment, sets)
  const sum = (of: (set: ReplicaSet) => number | undefined): number =>
    sets.reduce((total, set) => total + (of(set) ?? 0), 0)
  const available = sum(({ status }) => status?.availableReplicas)
  const { collisionCount } = deployment.status ?? {}
  const counts: DeploymentStatus = {
    ...(deployment.metadata.generation !== undefined && { observedGeneration: deployment.metadata.generation }),
    ...count(
      'replicas',
      sum(({ status }) => status?.replicas),
    ),
    ...count('updatedReplicas', newSet?.status?.replicas ?? 0),
    ...count(
      'readyReplicas',
      sum(({ status }) => status?.readyReplicas),
    ),
    ...count('availableReplicas', available),
    ...count('unavailableReplicas', Math.max(totalReplicas(sets) - available, 0)),
    terminatingReplicas: sum(({ status }) => status?.terminatingReplicas),
    ...(collisionCount !== undefined && { collisionCount }),
  }
  const isUp = available >= replicasOf(deployment) - maxUnavailable(deployment)
  const availability = isUp
    ? condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
    : condition('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.')
  const withProgress = (before: Conditions): Conditions =>
    hasDeadline(deployment) ? progress(input, counts, newSet, before) : withoutCondition(before, 'Progressing')
  const before = deployment.status?.conditions ?? []
  // Upstream writes a pause before the other conditions, and conditions keep the order of their writes.
  let conditions = deployment.spec?.paused
    ? set(withProgress(before), availability, now)
    : withProgress(set(before, availability, now))
  const failed = sets
    .toSorted((a, b) => Number(b === newSet) - Number(a === newSet))
    .flatMap((each) => conditionOf(each.status?.conditions, 'ReplicaFailure') ?? [])[0]
  conditions = failed
    ? set(conditions, condition('ReplicaFailure', failed.status, failed.reason ?? '', failed.message ?? ''), now)
    : withoutCondition(conditions, 'ReplicaFailure')
  return { ...counts, ...(conditions.length > 0 && { conditions }) }
}

function progress(
  { created, deployment, failure, now }: DeploymentStatusInput,
  status: DeploymentStatus,
  newSet: Stored<ReplicaSet> | undefined,
  before: Conditions,
): Conditions {
  const current = conditionOf(before, 'Progressing')
  const name = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`
  if (failure !== undefined) return set(before, progressing('False', 'ReplicaSetCreateError', failure), now)
  const isTimedOut = current?.reason === 'ProgressDeadlineExceeded'
  if (deployment.spec?.paused) {
    return isTimedOut ? before : set(before, progressing('Unknown', 'DeploymentPaused', 'Deployment is paused'), now)
  }
  if (current?.reason === 'DeploymentPaused') {
    return set(before, progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed'), now)
  }
  if (created) {
    const message = `Created new replica set "${created.metadata.name}"`
    return set(before, progressing('True', 'NewReplicaSetCreated', message), now)
  }
  if (newSet && !current) {
    return set(
      before,
      progressing('True', 'FoundNewReplicaSet', `Found new replica set "${newSet.metadata.name}"`),
      now,
    )
  }
  const isOver =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === 'NewReplicaSetAvailable'
  if (isOver) return before
  if (isComplete(deployment, status)) {
    return set(before, progressing('True', 'NewReplicaSetAvailable', `${name} has successfully progressed.`), now)
  }
  if (hasProgressed(deployment.status, status)) {
    const next = progressing('True', 'ReplicaSetUpdated', `${name} is progressing.`)
    const since = current?.status === 'True' ? current.lastTransitionTime : undefined
    return [
      ...withoutCondition(before, 'Progressing'),
      { ...next, lastUpdateTime: rfc3339(now), lastTransitionTime: since ?? rfc3339(now) },
    ]
  }
  const deadline = progressDeadline(deployment, before)
  if (isTimedOut || (deadline !== undefined && deadline < now)) {
    return set(before, progressing('False', 'ProgressDeadlineExceeded', `${name} has timed out progressing.`), now)
  }
  return before
}

/** Number of pods of older templates. */
function old(status: DeploymentStatus | undefined): number {
  return (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0)
}

function hasProgressed(before: DeploymentStatus | undefined, now: DeploymentStatus): boolean {
  return (
    (now.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  )
}

/** The time at which a rollout without progress fails, in milliseconds; undefined without a deadline. */
export function progressDeadline(deployment: Deployment, conditions: Conditions | undefined): number | undefined {
  const current = conditionOf(conditions, 'Progressing')
  const isWaiting = current?.reason !== 'NewReplicaSetAvailable' && current?.reason !== 'ProgressDeadlineExceeded'
  if (!hasDeadline(deployment) || !current?.lastUpdateTime || !isWaiting || deployment.spec?.paused) return undefined
  return Date.parse(current.lastUpdateTime) + (deployment.spec?.progressDeadlineSeconds ?? 600) * 1000
}

function hasDeadline(deployment: Deployment): boolean {
  return (deployment.spec?.progressDeadlineSeconds ?? 600) !== 2 ** 31 - 1
}

function progressing(status: string, reason: string, message: string): DeploymentCondition {
  return condition('Progressing', status, reason, message)
}

function condition(type: string, status: string, reason: string, message: string): DeploymentCondition {
  return { type, status, reason, message }
}

/** Moves a changed condition to the end, as upstream does. */
function set(conditions: Conditions | undefined, next: DeploymentCondition, now: number): Conditions {
  const before = conditionOf(conditions, next.type)
  if (before && before.status === next.status && before.reason === next.reason) return conditions ?? []
  const time = rfc3339(now)
  return [
    ...withoutCondition(conditions, next.type),
    {
      ...next,
      lastUpdateTime: time,
      lastTransitionTime: before?.status === next.status ? (before.lastTransitionTime ?? time) : time,
    },
  ]
}
