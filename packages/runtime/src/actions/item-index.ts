import { isJsonObject, type JsonObject } from '@tenure/kube/model'

/**
 * Finds the items of a list by the names that they have in fieldsV1: `k:{…}`, `v:…`, `i:0`. Each way of naming reads the
 * list once, so that a comparison of long lists takes time in proportion to their length.
 */
export class ItemIndex {
  readonly #list: readonly unknown[]
  /** Index of each value, for sets. */
  #byValue: ReadonlyMap<string, number> | undefined
  /** Items by their keys, for each combination of key fields. */
  readonly #byKeys = new Map<string, KeyedItems>()

  constructor(list: readonly unknown[]) {
    this.#list = list
  }

  /** The index of the first item that `name` identifies; -1 if there is none. */
  find(name: string): number {
    switch (name.slice(0, 2)) {
      case 'k:': {
        const keys = keysOf(name)
        return this.#keyed(keys).find(keys)
      }
      case 'v:':
        this.#byValue ??= firstIndexes(this.#list)
        return this.#byValue.get(textOf(JSON.parse(name.slice(2)))) ?? -1
      case 'i:': {
        const index = Number(name.slice(2))
        return index < this.#list.length ? index : -1
      }
      default:
        return -1
    }
  }

  /**
   * The index of the first item that `name` identifies if missing keys have a default, such as `protocol` of a port.
   * Each item is found once.
   */
  takeWithDefaults(name: string): number {
    if (!name.startsWith('k:')) return -1
    const keys = keysOf(name)
    return this.#keyed(keys).take(keys)
  }

  #keyed(keys: JsonObject): KeyedItems {
    const names = Object.keys(keys).toSorted()
    const id = JSON.stringify(names)
    let items = this.#byKeys.get(id)
    if (!items) this.#byKeys.set(id, (items = new KeyedItems(this.#list, names)))
    return items
  }
}

/** The items of a list by the values of some of their fields. */
class KeyedItems {
  /** By the key fields that the items have. */
  readonly #groups = new Map<string, KeyedGroup>()
  readonly #names: readonly string[]

  constructor(list: readonly unknown[], names: readonly string[]) {
    this.#names = names
    for (const [index, item] of list.entries()) {
      if (!isJsonObject(item)) continue
      const present = names.filter((name) => item[name] !== undefined)
      const id = JSON.stringify(present)
      let group = this.#groups.get(id)
      if (!group) this.#groups.set(id, (group = { names: present, items: new Map() }))
      const values = valuesOf(item, present)
      const same = group.items.get(values)
      if (same) same.indexes.push(index)
      else group.items.set(values, { indexes: [index], taken: 0 })
    }
  }

  find(keys: JsonObject): number {
    const group = this.#groups.get(JSON.stringify(this.#names))
    return group?.items.get(valuesOf(keys, this.#names))?.indexes[0] ?? -1
  }

  /** There is one group per combination of present fields, so that the number of groups does not grow with the list. */
  take(keys: JsonObject): number {
    let first: SameItems | undefined
    for (const { names, items } of this.#groups.values()) {
      const found = items.get(valuesOf(keys, names))
      if (found && nextOf(found) < nextOf(first)) first = found
    }
    const next = nextOf(first)
    if (first) first.taken++
    return next === Infinity ? -1 : next
  }
}

/** Items that have the same of the key fields, by the values of these. */
interface KeyedGroup {
  readonly names: readonly string[]
  readonly items: Map<string, SameItems>
}

/** Indexes of items with equal keys, in order, and the number of those that were taken. */
interface SameItems {
  readonly indexes: number[]
  taken: number
}

/** Infinity if all are taken. */
function nextOf(items: SameItems | undefined): number {
  return items?.indexes[items.taken] ?? Infinity
}

function firstIndexes(list: readonly unknown[]): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, item] of list.entries()) {
    const text = textOf(item)
    if (!indexes.has(text)) indexes.set(text, index)
  }
  return indexes
}

function valuesOf(item: JsonObject, names: readonly string[]): string {
  return textOf(names.map((name) => item[name]))
}

/** Equal values have equal texts, whatever the order of their fields. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

function keysOf(name: string): JsonObject {
  return JSON.parse(name.slice(2)) as JsonObject
}
