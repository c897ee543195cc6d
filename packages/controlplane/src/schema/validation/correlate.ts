import { isDeepEqual, isJsonObject } from '@tenure/kube/model'

import type { Node } from './node.ts'

/** The item of `old` that `item` is an update of: only lists that are maps have such. */
export function correlate(list: Node, item: unknown, old: unknown): unknown {
  if (list.listType !== 'map' || !Array.isArray(old) || !isJsonObject(item)) return undefined
  return old.find(
    (candidate) => isJsonObject(candidate) && list.listMapKeys.every((key) => isDeepEqual(candidate[key], item[key])),
  )
}
