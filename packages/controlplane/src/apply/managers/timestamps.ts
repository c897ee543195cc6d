import type { KubeObject } from '@tenure/kube'

import { deepEqual } from '../../patch/json.ts'

/**
 * `next`, or `live` if they differ in nothing but the times of managedFields. To be asked of a write at its very end:
 * only then is it known that it changed nothing.
 */
export function unlessOnlyTimesDiffer<T extends KubeObject>(live: T, next: T): T {
  const [before, after] = [live.metadata?.managedFields, next.metadata?.managedFields]
  if (!before || !after || before.length !== after.length) return next
  if (before === after) return next
  for (const [at, entry] of after.entries()) {
    const was = before[at]
    if (!was || !deepEqual({ ...entry, time: was.time }, { ...was, time: was.time })) return next
  }
  const { managedFields: _before, ...metadata } = live.metadata ?? {}
  const { managedFields: _after, ...nextMetadata } = next.metadata ?? {}
  return deepEqual({ ...live, metadata }, { ...next, metadata: nextMetadata }) ? live : next
}
