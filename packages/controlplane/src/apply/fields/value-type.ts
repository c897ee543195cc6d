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

interface KnownElements {
  readonly list: ListType
  readonly elements: readonly (PathElement | undefined)[]
}
// Lists are read several times in one write, and lists of a stored object in many writes.
const knownElements = new WeakMap<readonly unknown[], KnownElements>()

/**
 * The path elements that identify the items of an associative list; undefined for an item that does not fit, because
 * live objects are not validated.
 */
export function itemElements(list: ListType, items: readonly unknown[]): readonly (PathElement | undefined)[] {
  const known = knownElements.get(items)
  if (known?.list === list) return known.elements
  const elements = items.map((item) => itemElement(list, item))
  knownElements.set(items, { list, elements })
  return elements
}

function itemElement(list: ListType, item: unknown): PathElement | undefined {
  if (list.declaredKeys.length === 0) {
    return typeof item === 'object' || item === undefined ? undefined : valueElement(item)
  }
  if (!isJsonObject(item)) return undefined
  const { keys } = list
  const [only] = keys
  if (only !== undefined && keys.length === 1 && Object.hasOwn(item, only)) return keyElement([[only, item[only]]])
  const pairs: (readonly [string, unknown])[] = []
  for (const key of keys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.element().map?.field(key)?.default
    if (value !== undefined) pairs.push([key, value])
  }
  return pairs.length === 0 ? undefined : keyElement(pairs)
}

/** Why an item without a path element does not fit its list, in kube-apiserver's words. */
export function itemProblem(list: ListType, item: unknown): string {
  if (list.declaredKeys.length === 0) {
    if (isList(item)) return 'not supported: associative list with lists as elements'
    if (isJsonObject(item)) return "associative list without keys has an element that's a map type"
    return "associative list without keys has an element that's an explicit null"
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements'
  const names = list.declaredKeys.map((key) => JSON.stringify(key)).join(' ')
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`
}
