import { keyOf, type Kind, type KubeObject, refTo, type Stored, TenureError } from '@tenure/kube'
import { LeaseController } from '../../api/lease-controller.ts'

export const NAME_TAKEN = 'TENURE_LEASE_CONTROLLER_NAME_TAKEN'

/**
 * Why a LeaseController must not take over an object with the name of a child: an apply would merge the two, and the
 * deletion of the LeaseController would delete it. Undefined if it belongs to an earlier LeaseController of that name:
 * the runtime waits until it is gone.
 */
export function nameTaken(name: string, kind: Kind, existing: Stored<KubeObject>): TenureError | undefined {
  const owner = existing.metadata.ownerReferences?.find(({ controller }) => controller)
  if (owner?.kind === LeaseController.kind && owner.name === name) return undefined
  const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : 'was not created for this LeaseController'
  return new TenureError(
    NAME_TAKEN,
    `${kind.kind} ${keyOf(refTo(existing))} already exists and ${whose}. Delete it, or choose another name for the LeaseController.`,
    { fate: 'retry' },
  )
}
