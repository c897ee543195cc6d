import type { Condition } from '@tenure/kube'

/** A condition to set. Its transition time is computed. */
export type NewCondition = Omit<Condition, 'lastTransitionTime'>

/**
 * Returns the conditions with one of them set. Its `lastTransitionTime` becomes `now` (milliseconds since 1970) only if
 * its status changed; the others and their order stay.
 */
export function setCondition(
  existing: readonly Condition[] | undefined,
  condition: NewCondition,
  now: number,
): readonly Condition[] {
  const before = getCondition(existing, condition.type)
  const next: Condition = {
    type: condition.type,
    status: condition.status,
    ...(condition.observedGeneration !== undefined && { observedGeneration: condition.observedGeneration }),
    lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : rfc3339(now),
    reason: condition.reason,
    message: condition.message,
  }
  if (before === undefined) return [...(existing ?? []), next]
  return (existing ?? []).map((other) => (other === before ? next : other))
}

export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/** True if the condition exists and its status is `True`. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True'
}

/** A time in the format of Kubernetes: whole seconds, UTC. */
export function rfc3339(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
