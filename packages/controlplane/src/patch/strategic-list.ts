import { isJsonObject, type JsonObject, ownValue } from '@tenure/kube/model'
import { unclassified } from './errors.ts'
import { badRequest } from '../errors.ts'
import { StatusError } from '../errors.ts'
import { goType, goValue } from './go-format.ts'
import { isList } from './json.ts'
import type { PatchSchema } from './patch-schema.ts'

export const DIRECTIVE = '$patch'

/** Merges a patched element into the stored one that has the same key. */
export type MergeElement = (original: JsonObject, patch: JsonObject) => JsonObject

export const badSetElementOrder = (): StatusError => badRequest('invalid patch format of setElementOrder list')

export const wrongType = (expected: unknown, actual: unknown): StatusError =>
  unclassified(`expected a ${goType(expected)}, but received a ${goType(actual)}`)

const noMergeKey = (element: JsonObject, key: string): StatusError =>
  unclassified(`map: ${goValue(element)} does not contain declared merge key: ${key}`)

/** Merges two lists whose field has `patchStrategy: merge`. */
export function mergeLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  schema: PatchSchema,
  mergeKey: string,
  mergeElement: MergeElement,
): readonly unknown[] {
  if (original.length === 0 && patch.length === 0) return original
  if (elementType(original, patch) !== 'map') {
    const merged = [...new Set([...original, ...patch])]
    const [wanted, others] = partition(merged, patch, '')
    return inOrder(wanted, others, patch, original, '')
  }
  if (mergeKey === '') throw unclassified(`cannot merge lists without merge key for ${schema.kind}`)
  const { kept, changes } = applyElementDirectives(original, patch, mergeKey)
  const merged = [...kept]
  const indexes = indexByKey(kept, mergeKey)
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey)
    const key = change[mergeKey]
    const at = indexes.get(key)
    const found = at === undefined ? undefined : merged[at]
    if (at !== undefined && isJsonObject(found)) merged[at] = mergeElement(found, change)
    else {
      indexes.set(key, merged.length)
      merged.push(change)
    }
  }
  const [wanted, others] = partition(merged, changes, mergeKey)
  return inOrder(wanted, others, changes, kept, mergeKey)
}

/** Applies `$patch: delete` and `$patch: replace` among the elements. */
function applyElementDirectives(
  original: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
): { readonly kept: readonly unknown[]; readonly changes: readonly JsonObject[] } {
  const changes: JsonObject[] = []
  const deleted = new Set<unknown>()
  let isReplaced = false
  for (const element of patch as readonly JsonObject[]) {
    if (!Object.hasOwn(element, DIRECTIVE)) {
      changes.push(element)
      continue
    }
    const directive = element[DIRECTIVE]
    if (directive === 'delete') {
      if (!Object.hasOwn(element, mergeKey)) throw noMergeKey(element, mergeKey)
      deleted.add(element[mergeKey])
    } else if (directive === 'replace') {
      isReplaced = true
    } else if (directive === 'merge') {
      throw unclassified('merging lists cannot yet be specified in the patch')
    } else {
      throw unclassified(`unknown patch type: ${goValue(directive)} in map: ${goValue(element)}`)
    }
  }
  if (isReplaced) return { kept: changes, changes: [] }
  const isKept = (item: unknown): boolean => !isJsonObject(item) || !deleted.has(ownValue(item, mergeKey))
  return { kept: deleted.size === 0 ? original : original.filter(isKept), changes }
}

/** Puts a merged list into the order of `$setElementOrder`; elements it does not name keep their place. */
export function order(
  merged: readonly unknown[],
  original: readonly unknown[],
  patch: readonly unknown[],
  wantedOrder: readonly unknown[],
  mergeKey: string,
): readonly unknown[] {
  const [wanted, others] = partition(merged, wantedOrder, mergeKey)
  const isKeyed = elementType(original, patch) === 'map'
  return inOrder(wanted, others, wantedOrder, original, isKeyed ? mergeKey : '')
}

/** Every element of the patch must be in the order list, in the same order; deletions are ignored. */
export function checkOrder(patch: readonly unknown[], wantedOrder: readonly unknown[], mergeKey: string): void {
  if (wantedOrder.length === 0 || patch.length === 0) return
  const kept = mergeKey === '' ? patch : patch.filter((element) => !isDeletion(element))
  let next = 0
  for (const wanted of wantedOrder) {
    while (next < kept.length && isDirective(kept[next])) next++
    if (next >= kept.length) return
    if (keyOf(kept[next], mergeKey) === keyOf(wanted, mergeKey)) next++
  }
  if (next < kept.length) {
    throw unclassified(
      `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(wantedOrder)}\n`,
    )
  }
}

function isDirective(element: unknown): boolean {
  return isJsonObject(element) && Object.hasOwn(element, DIRECTIVE)
}

function isDeletion(element: unknown): boolean {
  if (!isJsonObject(element)) throw wrongType({}, element)
  return ownValue(element, DIRECTIVE) === 'delete'
}

function keyOf(element: unknown, mergeKey: string): unknown {
  if (mergeKey === '') return element
  if (!isJsonObject(element)) throw wrongType({}, element)
  if (!Object.hasOwn(element, mergeKey)) throw noMergeKey(element, mergeKey)
  return element[mergeKey]
}

/** The elements that the list names, and the others. */
function partition(
  merged: readonly unknown[],
  by: readonly unknown[],
  mergeKey: string,
): readonly [readonly unknown[], readonly unknown[]] {
  const named = new Set(by.map((element) => (isJsonObject(element) ? ownValue(element, mergeKey) : element)))
  const wanted: unknown[] = []
  const others: unknown[] = []
  for (const element of merged) (named.has(keyOf(element, mergeKey)) ? wanted : others).push(element)
  return [wanted, others]
}

/**
 * Interleaves the patch's elements in the patch's order with the elements that only the server has in the server's
 * order. A server element goes before the first patch element that follows it on the server.
 */
function inOrder(
  wanted: readonly unknown[],
  others: readonly unknown[],
  wantedOrder: readonly unknown[],
  serverOrder: readonly unknown[],
  mergeKey: string,
): readonly unknown[] {
  const inPatch = places(wantedOrder, mergeKey)
  const inServer = places(serverOrder, mergeKey)
  const rank = (of: ReadonlyMap<unknown, number>, element: unknown): number => of.get(keyOf(element, mergeKey)) ?? -1
  const right = sortedBy(wanted, (element) => rank(inPatch, element))
  const left = sortedBy(others, (element) => rank(inServer, element))
  const result: unknown[] = []
  let next = 0
  for (const element of right) {
    const place = rank(inServer, element)
    for (; next < left.length; next++) {
      const mine = rank(inServer, left[next])
      if (mine < 0 || mine >= place) break
      result.push(left[next])
    }
    result.push(element)
  }
  return [...result, ...left.slice(next)]
}

// Up to this length, the quadratic cost of an insertion sort does not matter.
const MAX_INSERTIONS = 1_000

/**
 * Sorts by rank. An element without a rank (-1) precedes any element it is compared with. The insertion sort reproduces
 * the result of kube-apiserver's.
 */
function sortedBy(list: readonly unknown[], rank: (element: unknown) => number): readonly unknown[] {
  const ranked = list.map((element) => ({ element, rank: rank(element) }))
  if (ranked.every((one) => one.rank >= 0) || ranked.length > MAX_INSERTIONS) {
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ element }) => element)
  }
  const sorted: typeof ranked = []
  for (const one of ranked) {
    let at = sorted.length
    while (at > 0) {
      const before = sorted[at - 1]?.rank ?? -1
      if (one.rank >= 0 && before >= 0 && one.rank >= before) break
      at--
    }
    sorted.splice(at, 0, one)
  }
  return sorted.map(({ element }) => element)
}

function places(list: readonly unknown[], mergeKey: string): ReadonlyMap<unknown, number> {
  const known = new Map<unknown, number>()
  for (const [place, element] of list.entries()) {
    const key = keyOf(element, mergeKey)
    if (!known.has(key)) known.set(key, place)
  }
  return known
}

/** The index of the first element with each key. */
function indexByKey(list: readonly unknown[], mergeKey: string): Map<unknown, number> {
  const indexes = new Map<unknown, number>()
  for (const [at, element] of list.entries()) {
    if (!isJsonObject(element)) throw unclassified(`value for key ${at} is not a map`)
    if (Object.hasOwn(element, mergeKey) && !indexes.has(element[mergeKey])) indexes.set(element[mergeKey], at)
  }
  return indexes
}

/** The common type of all elements of both lists. */
function elementType(...lists: readonly (readonly unknown[])[]): string {
  let type: string | undefined
  for (const list of lists) {
    for (const element of list) {
      const own = isJsonObject(element) ? 'map' : isList(element) ? 'list' : element === null ? 'null' : typeof element
      if (type === undefined && own === 'list') {
        throw new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
      }
      if (type !== undefined && type !== own) {
        throw unclassified(`list element types are not identical: ${goValue(lists)}`)
      }
      type = own
    }
  }
  if (type === undefined) throw unclassified('no elements in any of the given slices')
  return type
}
