import type { Kind, KubeObject, OwnerReference, Stored } from '@tenure/kube'

/** The owner reference that makes `owner` the controller of an object. */
export function controllerReference(kind: Kind, owner: Stored<KubeObject>): OwnerReference {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  }
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller)
}

/** Index of objects without controller by namespace. */
export const ORPHANS = 'orphans'

export function orphanIndex(object: Stored<KubeObject>): readonly string[] {
  return controllerOf(object) ? [] : [object.metadata.namespace ?? '']
}
