import { isDeepEqual, isJsonObject } from '@tenure/kube/model'

import type { SchemaNode } from './schema-node.ts'

/** Returns the old item with the same keys. Only lists of type map have one. */
export function correlate(list: SchemaNode, item: unknown, old: unknown): unknown {
  if (list.listType !== 'map' || !Array.isArray(old) || !isJsonObject(item)) return undefined
  return old.find(
    (candidate) => isJsonObject(candidate) && list.listMapKeys.every((key) => isDeepEqual(candidate[key], item[key])),
  )
}
