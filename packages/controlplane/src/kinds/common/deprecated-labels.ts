import type { JsonObject } from '@tenure/kube/model'
import { asArray, asString, labelValue } from '@tenure/kube/model'

import { asJsonObjects } from '../../model/json.ts'

/** Renamed node labels: since which version, and the new name. */
const RENAMED_LABELS: ReadonlyMap<string, readonly [since: string, now: string]> = new Map([
  ['beta.kubernetes.io/arch', ['v1.14', 'kubernetes.io/arch']],
  ['beta.kubernetes.io/os', ['v1.14', 'kubernetes.io/os']],
  ['failure-domain.beta.kubernetes.io/region', ['v1.17', 'topology.kubernetes.io/region']],
  ['failure-domain.beta.kubernetes.io/zone', ['v1.17', 'topology.kubernetes.io/zone']],
  ['beta.kubernetes.io/instance-type', ['v1.17', 'node.kubernetes.io/instance-type']],
])

const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
])

/** Returns the new name of a renamed label. */
export const replacementLabel = (name: string): string | undefined => RENAMED_LABELS.get(name)?.[1]

export function deprecatedLabel(name: string): string | undefined {
  const renamed = RENAMED_LABELS.get(name)
  return renamed ? `deprecated since ${renamed[0]}; use "${renamed[1]}" instead` : DEPRECATED_LABELS.get(name)
}

/** Warnings for a node selector term: deprecated keys and, if `checksValues`, values that no label can have. */
export function termWarnings(term: JsonObject, field: string, checksValues: boolean): readonly string[] {
  return asJsonObjects(term['matchExpressions']).flatMap((expression, index) => {
    const [key, place] = [asString(expression['key']), `${field}.matchExpressions[${index}]`]
    const former = deprecatedLabel(key)
    const values = checksValues ? asArray(expression['values']).map(asString) : []
    return [
      ...(former === undefined ? [] : [`${place}.key: ${key} is ${former}`]),
      ...values.flatMap((value, at) =>
        labelValue(value).map((why) => `${place}.values[${at}]: ${value} is invalid, ${why}`),
      ),
    ]
  })
}
