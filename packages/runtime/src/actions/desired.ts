import {
  keyOf,
  type Kind,
  type KubeObject,
  type ObjectRef,
  type OwnerReference,
  refTo,
  TenureError,
} from '@tenure/kube'
import type { Obstacles } from './name-conflicts.ts'
import type { DeclaredKind, Turn } from './context.ts'
import type { ApplyAction, CreateAction } from './types.ts'

/** The object an action means, complete: kind, namespace, and the reference to its owner. */
export function desiredObject(action: ApplyAction | CreateAction, turn: Turn, declared?: DeclaredKind): KubeObject {
  const { kind, object } = action
  const given = object.metadata ?? {}
  const namespace = kind.namespaced ? (given.namespace ?? turn.object.metadata.namespace) : undefined
  const owner = declared?.owned ? ownerReference(turn) : undefined
  const metadata = { ...given, ...(namespace !== undefined && { namespace }) }
  if (owner === undefined) return { apiVersion: kind.apiVersion, kind: kind.kind, ...object, metadata }
  if (turn.kind.namespaced && namespace !== turn.object.metadata.namespace) {
    throw new TenureError(
      'TENURE_OWNER_NAMESPACE',
      `${kind.kind} ${keyOf({ name: given.name ?? '', namespace })} can not be owned by ${turn.kind.kind} ${turn.key} ` +
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

/** In the namespace of the controller's object, unless it says otherwise. */
export function resolveRef(ref: ObjectRef, namespaced: boolean, turn: Turn): ObjectRef {
  if (!namespaced) return { name: ref.name }
  return { name: ref.name, namespace: ref.namespace ?? turn.object.metadata.namespace }
}

function ownerReference(turn: Turn): OwnerReference {
  const { apiVersion, kind } = turn.kind
  const { name, uid } = turn.object.metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/**
 * Refuses to take an object away from its controller: two would fight over it for ever. When that lets go of it, the
 * object whose turn it is gets another.
 */
export function refuseIfControlledByAnother(live: KubeObject, turn: Turn, kind: Kind, obstacles: Obstacles): void {
  const controller = controllerOf(live)
  if (controller === undefined || controller.uid === turn.object.metadata.uid) return
  obstacles.note(kind, keyOf(refTo(live)), turn.key)
  throw new TenureError(
    'TENURE_OWNED_BY_ANOTHER',
    `${live.kind ?? 'object'} ${keyOf({ name: live.metadata?.name ?? '', namespace: live.metadata?.namespace })} already belongs to ` +
      `${controller.kind} ${controller.name}. Delete it, or choose another name for the one of ${turn.kind.kind} ${turn.key}.`,
  )
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((reference) => reference.controller)
}
