import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asText, isJson, isSemanticallyEqual, isUnset, withField } from '../../model/json.ts'

/**
 * A pod's spec with where its runtime is to be found: the nodes of its RuntimeClass, and what it puts up with there.
 * What both say differently is returned as a text.
 */
export function withRuntimeNodes(spec: Json, scheduling: unknown): Json | string {
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

/** More than any pod has: each is compared with all others, so that many more would keep everybody waiting. */
const MOST_MERGED = 1_000

/** Without those that others say already. */
function mergeTolerations(all: readonly Json[]): readonly Json[] {
  if (all.length > MOST_MERGED) return all
  const merged: Json[] = []
  for (const [index, toleration] of all.entries()) {
    const isSaid =
      merged.some((other) => covers(other, toleration)) ||
      // Of two that are equal the first stays.
      all.slice(index + 1).some((other) => !isSemanticallyEqual(other, toleration) && covers(other, toleration))
    if (!isSaid) merged.push(toleration)
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
