import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { isEmptyObject, isList } from '../../patch/json.ts'
import type { FieldSet } from './fields.ts'
import { LEAF, nodeWith, SELF } from './fields.ts'
import { itemElements, valueTypeFor } from './value-type.ts'
import { fieldElement, sortedTexts } from './path-element.ts'
import type { PathElement } from './path-element.ts'
import type { ListType, MapType, Structure } from './structure.ts'

/** All fields that an object sets: those its applier owns. */
export function fieldSetOf(object: unknown, structure: Structure, known?: KnownFields): FieldSet {
  return fieldsOf(object, structure, false, known) ?? LEAF
}

/** Results for parts that several objects share. */
export type KnownFields = Map<object, Found>

interface Found {
  readonly structure: Structure
  readonly self: boolean
  readonly fields: FieldSet | undefined
}

/** `self`: the field counts even if nothing below it does. */
function fieldsOf(value: unknown, structure: Structure, self: boolean, known?: KnownFields): FieldSet | undefined {
  if (!known || typeof value !== 'object' || value === null) return find(value, structure, self, known)
  const found = known.get(value)
  if (found?.structure === structure && found.self === self) return found.fields
  const fields = find(value, structure, self, known)
  known.set(value, { structure, self, fields })
  return fields
}

function find(value: unknown, structure: Structure, self: boolean, known?: KnownFields): FieldSet | undefined {
  const kind = valueTypeFor(structure, value)
  if (kind === 'map' && structure.map && !structure.map.isAtomic) {
    return isJsonObject(value) ? ofMap(value, structure.map, self, known) : self ? LEAF : undefined
  }
  if (kind === 'list' && structure.list && !structure.list.isAtomic) {
    return isList(value) ? ofList(value, structure.list, self, known) : self ? LEAF : undefined
  }
  return LEAF
}

function ofMap(value: JsonObject, map: MapType, self: boolean, known?: KnownFields): FieldSet | undefined {
  const draft: Record<string, FieldSet> = self ? { [SELF]: LEAF } : {}
  let isLeft = false
  for (const key of sortedTexts(Object.keys(value))) {
    const member = value[key]
    const field = map.field(key)
    const structure = field?.structure ?? map.element()
    if (!structure) continue
    const isOwnMember = !field || member === null || (isJsonObject(member) && isEmptyObject(member))
    const fields = fieldsOf(member, structure, isOwnMember, known)
    if (!fields) continue
    draft[fieldElement(key)] = fields
    isLeft = true
  }
  return isLeft ? draft : self ? LEAF : undefined
}

function ofList(value: readonly unknown[], list: ListType, self: boolean, known?: KnownFields): FieldSet | undefined {
  const children = new Map<PathElement, FieldSet>()
  const elements = itemElements(list, value)
  for (const [at, item] of value.entries()) {
    const element = elements[at]
    if (element === undefined) continue
    // Of items with the same key, only their presence is owned.
    const isDouble = children.has(element)
    children.set(element, isDouble ? LEAF : (fieldsOf(item, list.element(), true, known) ?? LEAF))
  }
  return nodeWith(children, self)
}
