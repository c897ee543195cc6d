import type { Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import type { Deployment, PodTemplateSpec, ReplicaSet } from '@tenure/kube/kinds'
import { scaledIntOrPercent } from '../common/int-or-percent.ts'

export const TEMPLATE_HASH = 'pod-template-hash'
export const REVISION = 'deployment.kubernetes.io/revision'
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'

/** Annotations of a Deployment that its ReplicaSets do not inherit. */
const NOT_INHERITED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'deprecated.deployment.rollback.to',
])
/** Maximum length of the revision history annotation in characters. */
const MAX_HISTORY_LENGTH = 2_000

export type Sets = readonly Stored<ReplicaSet>[]

export function replicasOf(object: Deployment | ReplicaSet): number {
  return object.spec?.replicas ?? 1
}

export function isRolling(deployment: Deployment): boolean {
  return (deployment.spec?.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
}

/** Maximum number of additional pods during a rolling update. */
export function maxSurge(deployment: Deployment): number {
  if (!isRolling(deployment)) return 0
  return scaledIntOrPercent(deployment.spec?.strategy?.rollingUpdate?.maxSurge ?? '25%', replicasOf(deployment), 'up')
}

/** Maximum number of missing pods during a rolling update. */
export function maxUnavailable(deployment: Deployment): number {
  const replicas = replicasOf(deployment)
  if (!isRolling(deployment) || replicas === 0) return 0
  const unavailable = scaledIntOrPercent(
    deployment.spec?.strategy?.rollingUpdate?.maxUnavailable ?? '25%',
    replicas,
    'down',
  )
  // With both at zero the rollout would not progress.
  return Math.min(unavailable === 0 && maxSurge(deployment) === 0 ? 1 : unavailable, replicas)
}

export function totalReplicas(sets: Sets): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0)
}

export function oldestFirst(sets: Sets): Sets {
  return sets.toSorted(
    (a, b) =>
      Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  )
}

/** An int64, which a number cannot hold. Zero if the annotation is not one. */
export function revisionOf(object: Deployment | ReplicaSet): bigint {
  const text = object.metadata?.annotations?.[REVISION] ?? ''
  const revision = /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : 0n
  return BigInt.asIntN(64, revision) === revision ? revision : 0n
}

/** The oldest set of the Deployment's current template. */
export function newSetOf(deployment: Deployment, sets: Sets): Stored<ReplicaSet> | undefined {
  return oldestFirst(sets).find((set) => isSameTemplate(deployment.spec?.template, set.spec?.template))
}

export function isSameTemplate(wanted: PodTemplateSpec | undefined, has: PodTemplateSpec | undefined): boolean {
  return isDeepEqual(withoutHash(wanted), withoutHash(has))
}

function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  const { creationTimestamp: _creation, labels = {}, ...metadata } = template?.metadata ?? {}
  const { [TEMPLATE_HASH]: _hash, ...rest } = labels
  return { ...template, metadata: { ...metadata, labels: rest } }
}

/** The desired annotations of the current set. */
export function annotationsFor(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  newRevision: bigint,
): Readonly<Record<string, string>> {
  const annotations: Record<string, string> = { ...set?.metadata?.annotations }
  for (const [key, value] of Object.entries(deployment.metadata?.annotations ?? {})) {
    if (!NOT_INHERITED.has(key)) annotations[key] = value
  }
  const before = set ? revisionOf(set) : 0n
  if (before < newRevision) {
    annotations[REVISION] = String(newRevision)
    if (before > 0n) annotations[REVISION_HISTORY] = history(annotations[REVISION_HISTORY], before)
  }
  return set ? annotations : { ...annotations, ...replicasAnnotations(deployment) }
}

function history(before: string | undefined, revision: bigint): string {
  const revisions = before ? [...before.split(','), String(revision)] : [String(revision)]
  while (revisions.join(',').length > MAX_HISTORY_LENGTH) revisions.shift()
  return revisions.join(',')
}

export function replicasAnnotations(deployment: Deployment): Readonly<Record<string, string>> {
  const replicas = replicasOf(deployment)
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + maxSurge(deployment)) }
}

/** The size that the new set may have now. */
export function newSetSize(deployment: Deployment, all: Sets, current: number): number {
  const wanted = replicasOf(deployment)
  if (!isRolling(deployment)) return wanted
  const remaining = wanted + maxSurge(deployment) - totalReplicas(all)
  return remaining <= 0 ? current : current + Math.min(remaining, wanted - current)
}
