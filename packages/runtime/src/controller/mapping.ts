import { type Kind, keyOf, type KubeObject, type ObjectRef, refTo, type Stored } from '@tenure/kube'
import type { Mapping } from './definition.ts'

/**
 * Maps to the objects that the controller's index `index` holds under the object's `namespace/name`, or under `valueOf`
 * it.
 */
export function byIndex<C extends KubeObject>(
  index: string,
  valueOf: (object: Stored<C>) => string = (object) => keyOf(refTo(object)),
): Mapping<C> {
  return (object, primaries) => primaries.byIndex(index, valueOf(object)).map(refTo)
}

/** Maps to the object that a label names, in the same namespace unless another label names one. */
export function byLabel(nameLabel: string, namespaceLabel?: string): Mapping {
  return ({ metadata }) => {
    const name = metadata.labels?.[nameLabel]
    if (!name) return []
    return [{ name, namespace: namespaceLabel ? metadata.labels?.[namespaceLabel] : metadata.namespace }]
  }
}

/** Maps to the object of kind `owner` that controls this one by its owner reference. */
export function byOwner(owner: Kind): Mapping {
  return (object) => ownersOf(object, owner)
}

/** The controlling owner of an object if it is of kind `owner`, in any version. */
export function ownersOf(object: KubeObject, owner: Kind): readonly ObjectRef[] {
  const found: ObjectRef[] = []
  for (const reference of object.metadata?.ownerReferences ?? []) {
    if (!reference.controller || reference.kind !== owner.kind || groupOf(reference.apiVersion) !== owner.group)
      continue
    const namespace = owner.namespaced ? object.metadata?.namespace : undefined
    found.push(namespace ? { name: reference.name, namespace } : { name: reference.name })
  }
  return found
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
