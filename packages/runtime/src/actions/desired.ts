import {
  keyOf,
  type Kind,
  type KubeObject,
  type ObjectRef,
  type OwnerReference,
  refTo,
  TenureError,
} from '@tenure/kube'
import type { NameConflicts } from './name-conflicts.ts'
import type { DeclaredKind, Reconcile } from './context.ts'
import type { ApplyAction, CreateAction } from './types.ts'

/** The complete object of an action: with kind, namespace, and the reference to its owner. */
export function desiredObject(
  action: ApplyAction | CreateAction,
  reconcile: Reconcile,
  declared?: DeclaredKind,
): KubeObject {
  const { kind, object } = action
  const given = object.metadata ?? {}
  const namespace = kind.namespaced ? (given.namespace ?? reconcile.object.metadata.namespace) : undefined
  const owner = declared?.owned ? ownerReference(reconcile) : undefined
  const metadata = { ...given, ...(namespace !== undefined && { namespace }) }
  if (owner === undefined) return { apiVersion: kind.apiVersion, kind: kind.kind, ...object, metadata }
  if (reconcile.kind.namespaced && namespace !== reconcile.object.metadata.namespace) {
    throw new TenureError(
      'TENURE_OWNER_NAMESPACE',
      `${kind.kind} ${keyOf({ name: given.name ?? '', namespace })} cannot be owned by ${reconcile.kind.kind} ${reconcile.key} ` +
        `in another namespace. Declare ${kind.kind} in watches with a mapping of your own instead of in owns.`,
      { fate: 'bug' },
    )
  }
  const others = (given.ownerReferences ?? []).filter((reference) => reference.uid !== owner.uid)
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    ...object,
    metadata: { ...metadata, ownerReferences: [...others, owner] },
  }
}

/** Without a namespace: in that of the controller's object. */
export function resolveRef(ref: ObjectRef, namespaced: boolean, reconcile: Reconcile): ObjectRef {
  if (!namespaced) return { name: ref.name }
  return { name: ref.name, namespace: ref.namespace ?? reconcile.object.metadata.namespace }
}

function ownerReference(reconcile: Reconcile): OwnerReference {
  const { apiVersion, kind } = reconcile.kind
  const { name, uid } = reconcile.object.metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/**
 * Refuses to take an object away from its controller: two controllers would fight over it for ever. When its controller
 * lets go of it, the object that is being reconciled is queued again.
 */
export function refuseIfControlledByAnother(
  live: KubeObject,
  reconcile: Reconcile,
  kind: Kind,
  nameConflicts: NameConflicts,
): void {
  const controller = controllerOf(live)
  if (controller === undefined || controller.uid === reconcile.object.metadata.uid) return
  nameConflicts.note(kind, keyOf(refTo(live)), reconcile.key)
  throw new TenureError(
    'TENURE_OWNED_BY_ANOTHER',
    `${kind.kind} ${keyOf({ name: live.metadata?.name ?? '', namespace: live.metadata?.namespace })} already belongs to ` +
      `${controller.kind} ${controller.name}. Delete it, or choose another name for the one of ${reconcile.kind.kind} ${reconcile.key}.`,
  )
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller)
}
