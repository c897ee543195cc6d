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
import type { Action, ReconcileContext } from '@tenure/runtime'
import { Application } from './api.ts'

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
      if (there && !isOwnedBy(there, context.object.metadata.uid)) throw taken(action.kind, there, context.object)
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

function taken(kind: Kind, there: KubeObject, { metadata }: Context['object']): TenureError {
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
