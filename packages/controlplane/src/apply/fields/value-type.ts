import { isJsonObject } from '@tenure/kube/model'
import { isList } from '../../patch/json.ts'
import { keyElement, valueElement } from './path-element.ts'
import type { PathElement } from './path-element.ts'
import type { ListType, Structure } from './structure.ts'

export type ValueType = 'map' | 'list' | 'scalar'

/** The type under which a structure treats a value: the type of the value if the structure allows it, else its first. */
export function valueTypeFor(structure: Structure, value: unknown): ValueType {
  if (value !== null && value !== undefined) {
    if (isList(value)) {
      if (structure.list) return 'list'
    } else if (typeof value === 'object') {
      if (structure.map) return 'map'
    } else if (structure.scalar) return 'scalar'
  }
  return structure.map ? 'map' : structure.scalar ? 'scalar' : 'list'
}

/** Why an item does not fit its list, in kube-apiserver's words. */
export class ItemError extends Error {}

// Items are read several times in one write, and items of a stored object in many writes.
const knownItems = new WeakMap<ListType, WeakMap<object, PathElement>>()

/** The path element that identifies an item of an associative list. */
export function itemElement(list: ListType, item: unknown): PathElement {
  if (list.declaredKeys.length === 0) return setElement(item)
  if (typeof item !== 'object' || item === null) return keyedElement(list, item)
  let known = knownItems.get(list)
  if (!known) knownItems.set(list, (known = new WeakMap()))
  let element = known.get(item)
  if (element === undefined) known.set(item, (element = keyedElement(list, item)))
  return element
}

function keyedElement(list: ListType, item: unknown): PathElement {
  const { keys } = list
  if (item === null) throw new ItemError('associative list with keys may not have a null element')
  if (!isJsonObject(item)) throw new ItemError('associative list with keys may not have non-map elements')
  const [only] = keys
  if (only !== undefined && keys.length === 1 && Object.hasOwn(item, only)) return keyElement([[only, item[only]]])
  const pairs: (readonly [string, unknown])[] = []
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.element().map?.field(key)?.default
    if (value !== undefined) pairs.push([key, value])
  }
  if (pairs.length === 0) {
    const names = list.declaredKeys.map((key) => JSON.stringify(key)).join(' ')
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    )
  }
  return keyElement(pairs)
}

function setElement(item: unknown): PathElement {
  if (isList(item)) throw new ItemError('not supported: associative list with lists as elements')
  if (isJsonObject(item)) throw new ItemError("associative list without keys has an element that's a map type")
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null")
  return valueElement(item)
}

/** As `itemElement`, but undefined for an item that does not fit: live objects are not validated. */
export function itemElementIfAny(list: ListType, item: unknown): PathElement | undefined {
  try {
    return itemElement(list, item)
  } catch (error) {
    if (error instanceof ItemError) return undefined
    throw error
  }
}
