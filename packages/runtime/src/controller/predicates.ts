import type { KubeObject, Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'

/**
 * A `predicate` for controllers that ignore changes of the status: true for a new object, and if the generation, labels,
 * annotations, finalizers, owner references or the deletion timestamp changed. Objects of kinds without a generation
 * always count as changed.
 */
export function specOrMetadataChanged(object: Stored<KubeObject>, old: Stored<KubeObject> | undefined): boolean {
  if (old === undefined) return true
  const { generation } = object.metadata
  return generation === undefined || generation !== old.metadata.generation || isMetadataChanged(object, old)
}

/** Whether metadata that users and controllers write differs. */
export function isMetadataChanged({ metadata: after }: Stored<KubeObject>, old: Stored<KubeObject>): boolean {
  const before = old.metadata
  return (
    after.deletionTimestamp !== before.deletionTimestamp ||
    !isDeepEqual(after.labels, before.labels) ||
    !isDeepEqual(after.annotations, before.annotations) ||
    !isDeepEqual(after.finalizers, before.finalizers) ||
    !isDeepEqual(after.ownerReferences, before.ownerReferences)
  )
}
