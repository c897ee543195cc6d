import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject } from '@tenure/kube/model'

import { asJsonObjects, isSemanticallyEqual, isUnset, withField } from '../../model/json.ts'

/**
 * Merges the nodeSelector and tolerations of a RuntimeClass into a pod's spec. Returns the message of a conflict as a
 * string.
 */
export function withRuntimeScheduling(spec: JsonObject, scheduling: unknown): JsonObject | string {
  if (!isJsonObject(scheduling)) return spec
  const [own, needed] = [asJsonObject(spec['nodeSelector']), asJsonObject(scheduling['nodeSelector'])]
  for (const [key, value] of Object.entries(needed)) {
    if (Object.hasOwn(own, key) && own[key] !== value) {
      return `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${asString(value)}; pod.spec.nodeSelector[${key}] = ${asString(own[key])}`
    }
  }
  const nodeSelector = { ...own, ...needed }
  const tolerations = mergeTolerations([
    ...asJsonObjects(spec['tolerations']),
    ...asJsonObjects(scheduling['tolerations']),
  ])
  const selected = Object.keys(nodeSelector).length > 0 ? withField(spec, 'nodeSelector', nodeSelector) : spec
  return tolerations.length > 0 ? withField(selected, 'tolerations', tolerations) : selected
}

/** Maximum number of tolerations that are merged, because the merge takes quadratic time. */
const MAX_MERGED_TOLERATIONS = 1_000

/** Drops tolerations that another one covers. */
function mergeTolerations(all: readonly JsonObject[]): readonly JsonObject[] {
  if (all.length > MAX_MERGED_TOLERATIONS) return all
  const merged: JsonObject[] = []
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, toleration)) ||
      // The first of two equal tolerations stays.
      all.slice(index + 1).some((other) => !isSemanticallyEqual(other, toleration) && covers(other, toleration))
    if (!isCovered) merged.push(toleration)
  }
  return merged
}

function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (isSemanticallyEqual(wide, narrow)) return true
  const same = (field: string): boolean => asString(wide[field]) === asString(narrow[field])
  const isExists = wide['operator'] === 'Exists'
  if (!same('key') && !(isUnset(wide['key']) && isExists)) return false
  if (!same('effect') && !isUnset(wide['effect'])) return false
  const [limit, seconds] = [wide['tolerationSeconds'], narrow['tolerationSeconds']]
  if (wide['effect'] === 'NoExecute' && typeof limit === 'number') {
    if (typeof seconds !== 'number' || seconds > limit) return false
  }
  if (isExists) return true
  const isEqual = isUnset(wide['operator']) || wide['operator'] === 'Equal'
  return isEqual && narrow['operator'] === 'Equal' && same('value')
}
