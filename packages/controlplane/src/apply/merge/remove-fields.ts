import { isJsonObject, type JsonObject, setOwnValue } from '@tenure/kube/model'
import { isList } from '../../patch/json.ts'
import type { FieldSet } from '../fields/fields.ts'
import { isEmpty, isMember, LEAF, SELF } from '../fields/fields.ts'
import { itemElements, valueTypeFor } from '../fields/value-type.ts'
import { fieldElement } from '../fields/path-element.ts'
import type { ListType, MapType, Structure } from '../fields/structure.ts'

/** The value without the fields of the set; null where nothing is left, as in kube-apiserver. */
export function removeFields(value: unknown, set: FieldSet, structure: Structure): unknown {
  if (isEmpty(set)) return value
  const kind = valueTypeFor(structure, value)
  if (kind === 'scalar') return value
  if (kind === 'map' && isJsonObject(value) && structure.map?.isAtomic === false)
    return fromMap(value, set, structure.map)
  if (kind === 'list' && isList(value) && structure.list?.isAtomic === false)
    return fromList(value, set, structure.list)
  return null
}

function fromMap(value: JsonObject, set: FieldSet, map: MapType): unknown {
  const kept: Record<string, unknown> = {}
  let isLeft = false
  let isChanged = false
  for (const key of Object.keys(value)) {
    const node = set[fieldElement(key)]
    const member = node ? withoutNode(value[key], node, map.field(key)?.structure ?? map.element()) : value[key]
    if (member !== value[key]) isChanged = true
    if (member === undefined) continue
    setOwnValue(kept, key, member)
    isLeft = true
  }
  return isChanged ? (isLeft ? kept : null) : value
}

function fromList(value: readonly unknown[], set: FieldSet, list: ListType): unknown {
  const kept: unknown[] = []
  let isChanged = false
  const elements = itemElements(list, value)
  for (const [at, item] of value.entries()) {
    const element = elements[at]
    const node = element === undefined ? undefined : set[element]
    const rest = node ? withoutNode(item, node, list.element()) : item
    if (rest !== item) isChanged = true
    if (rest !== undefined) kept.push(rest)
  }
  return isChanged ? (kept.length > 0 ? kept : null) : value
}

function withoutNode(value: unknown, node: FieldSet, structure: Structure | undefined): unknown {
  if (isMember(node)) return undefined
  return structure ? removeFields(value, node, structure) : value
}

/**
 * The set with every declared field on the path to a member: an applier that sets fields in `spec.template.spec` owns
 * `spec.template.spec` implicitly.
 */
export function withNamedFields(set: FieldSet, structure: Structure | undefined): FieldSet {
  let draft: Record<string, FieldSet> | undefined
  for (const key in set) {
    const node = set[key]
    if (key === SELF || node === undefined || isEmpty(node)) continue
    const field = key.startsWith('f:') ? structure?.map?.field(key.slice(2)) : undefined
    const below = field?.structure ?? elementOf(key, structure)
    const named = withNamedFields(node, below)
    const next = field && named[SELF] === undefined ? { [SELF]: LEAF, ...named } : named
    if (next !== node) {
      draft ??= { ...set }
      draft[key] = next
    }
  }
  return draft ?? set
}

function elementOf(key: string, structure: Structure | undefined): Structure | undefined {
  if (key.startsWith('f:')) return structure?.map?.element()
  return key.startsWith('k:') ? structure?.list?.element() : undefined
}
