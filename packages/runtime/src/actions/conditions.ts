import { rfc3339 } from '../time/rfc3339.ts'
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

export function getCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/** True if the condition exists and its status is `True`. */
export function isTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return getCondition(conditions, type)?.status === 'True'
}
