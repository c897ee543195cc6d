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
 * Refuses to take over an object that has the name of a child and is not ours: apply would merge the two. What our
 * caches do not have may still be there, without our label, so the server is asked; only before a child is made.
 */
export async function refuseTakenNames(actions: readonly Action<Application>[], context: Context): Promise<void> {
  await Promise.all(
    actions.map(async (action) => {
      if (action.type !== 'apply') return
      const name = action.object.metadata?.name ?? ''
      if (context.owned(action.kind, name)) return
      const there = await lookUp(action.kind, name, context)
      if (!there || isOwnedBy(there, context.object.metadata.uid)) return
      if (!isStray(action.kind, there, context.object)) throw taken(action.kind, there, context.object)
    }),
  )
}

async function lookUp(kind: Kind, name: string, { api, object, signal }: Context): Promise<KubeObject | undefined> {
  try {
    // From the server's own cache: what somebody else made in this very moment is a race that no look would win.
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
 * Whether an object was made by us for this very Application, and somebody took its owner off since: the apply puts it
 * back. What is older than the Application was left behind by an earlier one on purpose. Nor is data ever claimed so.
 */
function isStray(kind: Kind, { metadata = {} }: KubeObject, { metadata: { creationTimestamp, name } }: Owner): boolean {
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

function taken(kind: Kind, there: KubeObject, { metadata }: Owner): TenureError {
  const owner = there.metadata?.ownerReferences?.find(({ controller }) => controller)
  if (there.metadata?.deletionTimestamp || isPredecessor(owner, metadata.name)) {
    return new TenureError(
      'TENURE_APPLICATION_NAME_LEAVING',
      `${kind.kind} ${keyOf(refTo(there))} of an earlier Application ${metadata.name} is not gone yet.`,
      { fate: 'retry' },
    )
  }
  return new TenureError(
    'TENURE_APPLICATION_NAME_TAKEN',
    `${kind.kind} ${keyOf(refTo(there))} is there already and ${owner ? `belongs to ${owner.kind} ${owner.name}` : 'was not made by this Application'}. Delete it, or choose another name for the Application.`,
    { fate: 'retry' },
  )
}

/** An Application of this name that was deleted: garbage collection is on its way. */
function isPredecessor(owner: OwnerReference | undefined, name: string): boolean {
  return owner?.kind === Application.kind && owner.apiVersion === Application.apiVersion && owner.name === name
}
