import type { Json } from '../model/json.ts'
import { asJson, asJsons, asList, asText, at, isSemanticallyEqual, withField } from '../model/json.ts'
import { conditionOf, isTrue, namesOf } from '../model/custom-resource-definition.ts'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** The CRD with the condition; `now` is when it became so. The same if it has it already. */
export function withCondition(crd: Json, condition: Condition, now: string): Json {
  const { type, status, reason, message } = condition
  const conditions = asJsons(at(crd, 'status', 'conditions'))
  const old = conditions.find((one) => one['type'] === type)
  if (old && old['status'] === status && old['reason'] === reason && old['message'] === message) return crd
  const lastTransitionTime = old?.['status'] === status ? old['lastTransitionTime'] : now
  const next = { lastTransitionTime, message, reason, status, type }
  const list = old ? conditions.map((one) => (one === old ? next : one)) : [...conditions, next]
  return withField(crd, 'status', { ...asJson(crd['status']), conditions: list })
}

/**
 * What a CRD's status should say of its names, given the other CRDs of its group: names that others hold are not
 * accepted, and what was accepted before stays. Pure.
 */
export function withAcceptedNames(crd: Json, others: readonly Json[], now: string): Json {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const other of others) {
    const names = asJson(at(other, 'status', 'acceptedNames'))
    for (const name of [names['plural'], names['singular'], ...asList(names['shortNames'])]) resources.add(asText(name))
    for (const name of [names['kind'], names['listKind']]) kinds.add(asText(name))
  }
  resources.delete('')
  kinds.delete('')
  const wanted = namesOf(crd)
  const accepted = asJson(at(crd, 'status', 'acceptedNames'))
  const names: Record<string, unknown> = { ...accepted }
  let conflict: Pick<Condition, 'reason' | 'message'> | undefined
  const claim = (field: string, reason: string, taken: ReadonlySet<string>): void => {
    const name = asText(wanted[field])
    if (name !== asText(accepted[field]) && taken.has(name))
      conflict = { reason, message: `"${name}" is already in use` }
    else names[field] = wanted[field]
  }
  claim('plural', 'PluralConflict', resources)
  claim('singular', 'SingularConflict', resources)
  if (!isSemanticallyEqual(wanted['shortNames'], accepted['shortNames'])) {
    const held = asList(accepted['shortNames'])
    const taken = asList(wanted['shortNames'])
      .map(asText)
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
  const status = asJson(crd['status'])
  const named = isSemanticallyEqual(acceptedNames, accepted)
    ? crd
    : withField(crd, 'status', { ...status, acceptedNames })
  return withNamesConditions(named, conflict, now)
}

function withNamesConditions(
  crd: Json,
  conflict: Pick<Condition, 'reason' | 'message'> | undefined,
  now: string,
): Json {
  const accepted: Condition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  const named = withCondition(crd, accepted, now)
  if (isTrue(named, 'Established')) return named
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
