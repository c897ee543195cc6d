import { rfc3339 } from '@tenure/runtime'

/** The fields that conditions of all kinds have in common. */
export interface AnyCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export function conditionOf<C extends AnyCondition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export function hasTrue(conditions: readonly AnyCondition[] | undefined, type: string): boolean {
  return conditionOf(conditions, type)?.status === 'True'
}

/** Moves a changed condition to the end, and keeps lastTransitionTime while the status is the same. */
export function withCondition<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  condition: C,
  now: number,
): readonly C[] {
  const before = conditionOf(conditions, condition.type)
  if (before && before.status === condition.status && before.reason === condition.reason) return conditions ?? []
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : rfc3339(now)
  return [
    ...withoutCondition(conditions, condition.type),
    { ...condition, ...(lastTransitionTime && { lastTransitionTime }) },
  ]
}

export function withoutCondition<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  type: string,
): readonly C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type)
}
