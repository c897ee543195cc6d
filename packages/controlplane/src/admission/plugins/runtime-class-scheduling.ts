import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asText, isJson, isSemanticallyEqual, isUnset, withField } from '../../model/json.ts'

/**
 * Merges the nodeSelector and tolerations of a RuntimeClass into a pod's spec. Returns the message of a conflict as a
 * string.
 */
export function withRuntimeScheduling(spec: Json, scheduling: unknown): Json | string {
  if (!isJson(scheduling)) return spec
  const [own, needed] = [asJson(spec['nodeSelector']), asJson(scheduling['nodeSelector'])]
  for (const [key, value] of Object.entries(needed)) {
    if (Object.hasOwn(own, key) && own[key] !== value) {
      return `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${asText(value)}; pod.spec.nodeSelector[${key}] = ${asText(own[key])}`
    }
  }
  const nodeSelector = { ...own, ...needed }
  const tolerations = mergeTolerations([...asJsons(spec['tolerations']), ...asJsons(scheduling['tolerations'])])
  const selected = Object.keys(nodeSelector).length > 0 ? withField(spec, 'nodeSelector', nodeSelector) : spec
  return tolerations.length > 0 ? withField(selected, 'tolerations', tolerations) : selected
}

/** Maximum number of tolerations that are merged, because the merge takes quadratic time. */
const MAX_MERGED_TOLERATIONS = 1_000

/** Drops tolerations that another one covers. */
function mergeTolerations(all: readonly Json[]): readonly Json[] {
  if (all.length > MAX_MERGED_TOLERATIONS) return all
  const merged: Json[] = []
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, toleration)) ||
      // The first of two equal tolerations stays.
      all.slice(index + 1).some((other) => !isSemanticallyEqual(other, toleration) && covers(other, toleration))
    if (!isCovered) merged.push(toleration)
  }
  return merged
}

function covers(wide: Json, narrow: Json): boolean {
  if (isSemanticallyEqual(wide, narrow)) return true
  const same = (field: string): boolean => asText(wide[field]) === asText(narrow[field])
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
