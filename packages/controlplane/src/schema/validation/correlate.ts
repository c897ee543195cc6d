import { isJsonObject } from '@tenure/kube/model'

import { goJson } from '../go-text.ts'

/** A list of type map. */
interface KeyedList {
  readonly listType?: string | undefined
  readonly listMapKeys?: readonly string[] | undefined
}

/**
 * Returns a function that finds the index of the old item with the same keys, or -1. Only lists of type map have one. The
 * old items are indexed once, so that a list of any length is correlated in linear time.
 */
export function correlator({ listType, listMapKeys = [] }: KeyedList, old: unknown): (item: unknown) => number {
  if (listType !== 'map' || !Array.isArray(old)) return () => -1
  let indexes: Map<string, number> | undefined
  return (item) => {
    if (!isJsonObject(item)) return -1
    indexes ??= indexByKey(old, listMapKeys)
    return indexes.get(identityOf(item, listMapKeys)) ?? -1
  }
}

function indexByKey(items: readonly unknown[], keys: readonly string[]): Map<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item)) continue
    const identity = identityOf(item, keys)
    if (!indexes.has(identity)) indexes.set(identity, index)
  }
  return indexes
}

/** Equal for items with equal keys. JSON has no line break outside of strings, so it separates the keys. */
function identityOf(item: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  return keys.map((key) => (item[key] === undefined ? '' : goJson(item[key]))).join('\n')
}
