import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, withField } from './json.ts'

export interface StatusCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return asJsonObjects(valueAtPath(object, 'status', 'conditions')).find((condition) => condition['type'] === type)
}

export const hasCondition = (object: JsonObject, type: string): boolean =>
  conditionOf(object, type)?.['status'] === 'True'

/** Returns `object` with the condition, or `object` itself if it has it already. `now` is the transition time. */
export function withCondition(object: JsonObject, condition: StatusCondition, now: string): JsonObject {
  const { type, status, reason, message } = condition
  const conditions = asJsonObjects(valueAtPath(object, 'status', 'conditions'))
  const old = conditions.find((one) => one['type'] === type)
  if (old && old['status'] === status && old['reason'] === reason && old['message'] === message) return object
  const lastTransitionTime = old?.['status'] === status ? old['lastTransitionTime'] : now
  const next = { lastTransitionTime, message, reason, status, type }
  const list = old ? conditions.map((one) => (one === old ? next : one)) : [...conditions, next]
  return withField(object, 'status', { ...asJsonObject(object['status']), conditions: list })
}
