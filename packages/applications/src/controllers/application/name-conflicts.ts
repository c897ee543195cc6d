import { keyOf, type Kind, type KubeObject, type OwnerReference, refTo, type Stored, TenureError } from '@tenure/kube'
import { PersistentVolumeClaim } from '@tenure/kube/kinds'
import { Application, FIELD_MANAGER } from '../../api/index.ts'
import { labelsOf } from './children/index.ts'

/**
 * Why an Application must not take over an existing object with the name of a child: an apply would merge the two.
 * Undefined if it may.
 */
export function nameConflict(
  application: Stored<Application>,
  kind: Kind,
  existing: KubeObject,
): TenureError | undefined {
  if (isAdoptable(application, kind, existing)) return undefined
  const { name } = application.metadata
  const owner = existing.metadata?.ownerReferences?.find(({ controller }) => controller)
  if (existing.metadata?.deletionTimestamp || isPredecessor(owner, name)) {
    return new TenureError(
      'TENURE_APPLICATION_NAME_LEAVING',
      `${kind.kind} ${keyOf(refTo(existing))} of an earlier Application ${name} is still being deleted.`,
      { fate: 'retry' },
    )
  }
  return new TenureError(
    'TENURE_APPLICATION_NAME_TAKEN',
    `${kind.kind} ${keyOf(refTo(existing))} already exists and ${owner ? `belongs to ${owner.kind} ${owner.name}` : 'was not created by this Application'}. Delete it, or choose another name for the Application.`,
    { fate: 'retry' },
  )
}

/**
 * Whether the operator created the object for this Application and its owner reference was removed later: the apply
 * restores it. An object older than the Application was orphaned on purpose. A claim holds data and is never adopted.
 */
function isAdoptable(
  { metadata: { creationTimestamp, name } }: Stored<Application>,
  kind: Kind,
  { metadata = {} }: KubeObject,
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

/** A deleted Application of the same name, whose children the garbage collector still removes. */
function isPredecessor(owner: OwnerReference | undefined, name: string): boolean {
  return owner?.kind === Application.kind && owner.apiVersion === Application.apiVersion && owner.name === name
}
