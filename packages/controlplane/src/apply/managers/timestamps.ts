import { isDeepEqual } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

/**
 * `next`, or `live` if they differ only in the times of managedFields. Must be the last step of a write, when all other
 * changes are made.
 */
export function unlessOnlyTimesDiffer<T extends KubeObject>(live: T, next: T): T {
  const [before, after] = [live.metadata?.managedFields, next.metadata?.managedFields]
  if (!before || !after || before.length !== after.length) return next
  if (before === after) return next
  for (const [at, entry] of after.entries()) {
    const was = before[at]
    if (!was || !isDeepEqual({ ...entry, time: was.time }, { ...was, time: was.time })) return next
  }
  const { managedFields: _before, ...metadata } = live.metadata ?? {}
  const { managedFields: _after, ...nextMetadata } = next.metadata ?? {}
  return isDeepEqual({ ...live, metadata }, { ...next, metadata: nextMetadata }) ? live : next
}
