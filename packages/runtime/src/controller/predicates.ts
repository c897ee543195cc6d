import type { KubeObject, Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'

/**
 * True unless just the status changed: the generation, or labels, annotations, finalizers, owner references or the
 * deletion. Objects of kinds that have no generation count as changed. For `changed` of a controller.
 */
export function changeOfSpecOrMetadata(old: Stored<KubeObject>, object: Stored<KubeObject>): boolean {
  const before = old.metadata
  const after = object.metadata
  return (
    after.generation === undefined ||
    after.generation !== before.generation ||
    after.deletionTimestamp !== before.deletionTimestamp ||
    !isDeepEqual(after.labels, before.labels) ||
    !isDeepEqual(after.annotations, before.annotations) ||
    !isDeepEqual(after.finalizers, before.finalizers) ||
    !isDeepEqual(after.ownerReferences, before.ownerReferences)
  )
}
