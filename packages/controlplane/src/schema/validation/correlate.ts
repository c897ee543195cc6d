import { deepEqual, isObject } from '../json.ts'
import type { Node } from './node.ts'

/** The item of `old` that `item` is an update of: only lists that are maps have such. */
export function correlate(list: Node, item: unknown, old: unknown): unknown {
  if (list.listType !== 'map' || !Array.isArray(old) || !isObject(item)) return undefined
  return old.find(
    (candidate) => isObject(candidate) && list.listMapKeys.every((key) => deepEqual(candidate[key], item[key])),
  )
}
