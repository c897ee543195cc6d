import {
  isNotFound,
  keyOf,
  type Kind,
  type KubeObject,
  metadataOf,
  type OwnerReference,
  refTo,
  TenureError,
} from '@tenure/kube'
import { PersistentVolumeClaim } from '@tenure/kube/kinds'
import type { Action, ReconcileContext } from '@tenure/runtime'
import { Application, FIELD_MANAGER } from '../../api/index.ts'
import { labelsOf } from './children/index.ts'

type Owner = Context['object']
type Context = Pick<ReconcileContext<Application>, 'api' | 'object' | 'owned' | 'signal'>

/**
 * Refuses to take over a foreign object that has the name of a child: an apply would merge the two. An object without the
 * operator's label is not in the cache, so that the API server is asked before a child is created.
 */
export async function checkNameConflicts(actions: readonly Action<Application>[], context: Context): Promise<void> {
  await Promise.all(
    actions.map(async (action) => {
      if (action.type !== 'apply') return
      const name = action.object.metadata?.name ?? ''
      if (context.owned(action.kind, name)) return
      const there = await lookUp(action.kind, name, context)
      if (!there || isOwnedBy(there, context.object.metadata.uid)) return
      if (!isAdoptable(action.kind, there, context.object)) throw nameConflict(action.kind, there, context.object)
    }),
  )
}

async function lookUp(kind: Kind, name: string, { api, object, signal }: Context): Promise<KubeObject | undefined> {
  try {
    // From the API server's cache: a consistent read could not prevent a race with another create either.
    const ref = { name, namespace: object.metadata.namespace }
    return await api.get(metadataOf(kind), ref, { resourceVersion: '0', signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  return metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false
}

/**
 * Whether the operator created the object for this Application and its owner reference was removed later: the apply
 * restores it. An object older than the Application was orphaned on purpose. A claim holds data and is never adopted.
 */
function isAdoptable(
  kind: Kind,
  { metadata = {} }: KubeObject,
  { metadata: { creationTimestamp, name } }: Owner,
): boolean {
  const { deletionTimestamp, labels = {}, managedFields = [], ownerReferences = [] } = metadata
  return (
    kind !== PersistentVolumeClaim &&
    deletionTimestamp === undefined &&
    !ownerReferences.some(({ controller }) => controller) &&
    Object.entries(labelsOf(name)).every(([label, value]) => labels[label] === value) &&
    managedFields.some(({ manager, operation }) => manager === FIELD_MANAGER && operation === 'Apply') &&
    Date.parse(metadata.creationTimestamp ?? '') >= Date.parse(creationTimestamp)
  )
}

function nameConflict(kind: Kind, there: KubeObject, { metadata }: Owner): TenureError {
  const owner = there.metadata?.ownerReferences?.find(({ controller }) => controller)
  if (there.metadata?.deletionTimestamp || isPredecessor(owner, metadata.name)) {
    return new TenureError(
      'TENURE_APPLICATION_NAME_LEAVING',
      `${kind.kind} ${keyOf(refTo(there))} of an earlier Application ${metadata.name} is still being deleted.`,
      { fate: 'retry' },
    )
  }
  return new TenureError(
    'TENURE_APPLICATION_NAME_TAKEN',
    `${kind.kind} ${keyOf(refTo(there))} already exists and ${owner ? `belongs to ${owner.kind} ${owner.name}` : 'was not created by this Application'}. Delete it, or choose another name for the Application.`,
    { fate: 'retry' },
  )
}

/** A deleted Application of the same name, whose children the garbage collector still removes. */
function isPredecessor(owner: OwnerReference | undefined, name: string): boolean {
  return owner?.kind === Application.kind && owner.apiVersion === Application.apiVersion && owner.name === name
}
