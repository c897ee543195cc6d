import { isDeepEqual, isJsonObject, type JsonObject, ownValue, setOwnValue } from '@tenure/kube/model'
import { isEmptyObject, isList } from '../../patch/json.ts'
import { itemElements, valueTypeFor } from '../fields/value-type.ts'
import type { PathElement } from '../fields/path-element.ts'
import type { ListType, MapType, Structure } from '../fields/structure.ts'

/**
 * The live object with the applied configuration merged in. Nothing is removed; unchanged parts are shared with the live
 * object, so that the result is `live` itself if nothing changes.
 */
export function mergeApplied(live: unknown, applied: unknown, structure: Structure): unknown {
  if (applied === undefined || live === applied) return live
  if (live === undefined) return applied
  switch (valueTypeFor(structure, applied)) {
    case 'map':
      if (structure.map && !structure.map.isAtomic && isJsonObject(live) && isJsonObject(applied)) {
        return mergeMaps(live, applied, structure.map)
      }
      // A null for a granular container is ignored.
      if (isJsonObject(live) && applied === null && structure.map?.isAtomic === false && !isEmptyObject(live))
        return live
      break
    case 'list':
      if (structure.list && !structure.list.isAtomic && isList(live)) {
        if (isList(applied)) return mergeLists(live, applied, structure.list)
        if (applied === null && live.length > 0) return live
      }
      break
    case 'scalar':
      break
  }
  return isDeepEqual(live, applied) ? live : applied
}

function mergeMaps(live: JsonObject, applied: JsonObject, map: MapType): JsonObject {
  let merged: Record<string, unknown> | undefined
  for (const key of Object.keys(applied)) {
    const structure = map.field(key)?.structure ?? map.element()
    const was = ownValue(live, key)
    const is = structure ? mergeApplied(was, applied[key], structure) : applied[key]
    if (is === was) continue
    merged ??= { ...live }
    setOwnValue(merged, key, is)
  }
  return merged ?? live
}

/** Merges items with the same key in the applied order; items that only the live list has keep their place. */
function mergeLists(live: readonly unknown[], applied: readonly unknown[], list: ListType): readonly unknown[] {
  if (applied.length === 0) return live
  const liveElements = itemElements(list, live)
  const appliedElements = itemElements(list, applied)
  const wanted = new Map<PathElement | undefined, unknown>()
  for (const [at, element] of appliedElements.entries()) wanted.set(element, applied[at])
  const known = new Map<PathElement | undefined, unknown>()
  // Items that share a key cannot be merged.
  for (const [at, element] of liveElements.entries()) known.set(element, known.has(element) ? null : live[at])

  const shared = appliedElements.filter((element) => known.has(element))
  let nextShared = 0
  const merged: unknown[] = []
  const done = new Set<PathElement | undefined>()
  const take = (element: PathElement | undefined): void => {
    done.add(element)
    const was = known.get(element)
    merged.push(
      was === null || was === undefined ? wanted.get(element) : mergeApplied(was, wanted.get(element), list.element()),
    )
  }
  for (let l = 0, a = 0; l < live.length || a < applied.length;) {
    const element = liveElements[l]
    if (l < live.length && a < applied.length) {
      if (element === appliedElements[a]) {
        take(element)
        l++
        a++
        nextShared++
        continue
      }
      if (wanted.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        l++
        continue
      }
    }
    if (l < live.length) {
      if (!wanted.has(element)) {
        merged.push(live[l])
        l++
        continue
      }
      if (done.has(element)) l++
    }
    if (a < applied.length) {
      const next = appliedElements[a]
      take(next)
      a++
      if (nextShared < shared.length && shared[nextShared] === next) nextShared++
    }
  }
  if (merged.length === live.length && merged.every((item, at) => item === live[at])) return live
  return merged
}
