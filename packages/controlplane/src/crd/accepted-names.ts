import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import type { StatusCondition } from '../model/conditions.ts'
import { conditionOf, hasCondition, withCondition } from '../model/conditions.ts'
import { namesOf } from '../model/custom-resource-definition.ts'
import { isSemanticallyEqual, withField } from '../model/json.ts'

/**
 * Returns the CRD with its accepted names and conditions, given the other CRDs of its group. A name that another CRD
 * holds is not accepted; a previously accepted name stays. Pure.
 */
export function withAcceptedNames(crd: JsonObject, others: readonly JsonObject[], now: string): JsonObject {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const other of others) {
    const names = asJsonObject(valueAtPath(other, 'status', 'acceptedNames'))
    for (const name of [names['plural'], names['singular'], ...asArray(names['shortNames'])])
      resources.add(asString(name))
    for (const name of [names['kind'], names['listKind']]) kinds.add(asString(name))
  }
  resources.delete('')
  kinds.delete('')
  const wanted = namesOf(crd)
  const accepted = asJsonObject(valueAtPath(crd, 'status', 'acceptedNames'))
  const names: Record<string, unknown> = { ...accepted }
  let conflict: Pick<StatusCondition, 'reason' | 'message'> | undefined
  const claim = (field: string, reason: string, taken: ReadonlySet<string>): void => {
    const name = asString(wanted[field])
    if (name !== asString(accepted[field]) && taken.has(name))
      conflict = { reason, message: `"${name}" is already in use` }
    else names[field] = wanted[field]
  }
  claim('plural', 'PluralConflict', resources)
  claim('singular', 'SingularConflict', resources)
  if (!isSemanticallyEqual(wanted['shortNames'], accepted['shortNames'])) {
    const held = asArray(accepted['shortNames'])
    const taken = asArray(wanted['shortNames'])
      .map(asString)
      .filter((name) => !held.includes(name) && resources.has(name))
    if (taken.length === 0) names['shortNames'] = wanted['shortNames']
    else {
      const messages = taken.map((name) => `"${name}" is already in use`)
      const message = messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`
      conflict = { reason: 'ShortNamesConflict', message }
    }
  }
  claim('kind', 'KindConflict', kinds)
  claim('listKind', 'ListKindConflict', kinds)
  names['categories'] = wanted['categories']
  const acceptedNames = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined))
  const status = asJsonObject(crd['status'])
  const named = isSemanticallyEqual(acceptedNames, accepted)
    ? crd
    : withField(crd, 'status', { ...status, acceptedNames })
  return withNamesConditions(named, conflict, now)
}

function withNamesConditions(
  crd: JsonObject,
  conflict: Pick<StatusCondition, 'reason' | 'message'> | undefined,
  now: string,
): JsonObject {
  const accepted: StatusCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  const named = withCondition(crd, accepted, now)
  if (hasCondition(named, 'Established')) return named
  if (!conflict) {
    const message = 'the initial names have been accepted'
    return withCondition(named, { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message }, now)
  }
  if (conditionOf(named, 'Established')) return named
  return withCondition(
    named,
    { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    now,
  )
}
