import { type Claim, resourceStatusesOf, returnValuesOf } from '../../api/claim.ts'
import type { ClaimRow } from './claims-view.ts'

/** A claim for readers. */
export function claimRow(claim: Claim): ClaimRow {
  const { claimedAt, createdAt, expiresAt, id, isIdle, isPreProvisioned, message, object, pool, status } = claim
  return {
    id,
    name: object.metadata.name,
    namespace: object.metadata.namespace ?? '',
    pool,
    status,
    message,
    isIdle,
    preProvisioned: isPreProvisioned,
    createdAt,
    ...(claimedAt !== undefined && { claimedAt }),
    ...(expiresAt !== undefined && { expiresAt }),
    data: { ...returnValuesOf(object) },
    resources: resourceStatusesOf(object).map(({ kind, message: state, name, ready }) => ({
      kind,
      name,
      ready,
      message: state,
    })),
  }
}
