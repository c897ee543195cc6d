import { rfc3339 } from '@tenure/runtime'
import { type Claim, resourceStatusesOf } from '../api/claim.ts'
import type { PoolStatus } from '../controllers/pool/status.ts'
import type { TakenClaim } from '../handout/claim-service.ts'

/** The body of a 201, with its keys in order. */
export function takenBody({ data, expiresAt, id, isPreProvisioned }: TakenClaim): object {
  return {
    data: Object.fromEntries(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    expiresAt: rfc3339(expiresAt),
    id,
    preProvisioned: isPreProvisioned,
    releaseMethod: 'POST',
    releasePath: `/release/${id}`,
    renewMethod: 'POST',
    renewPath: `/renew/${id}`,
    status: 'ok',
  }
}

/** The body of a renewal, with its keys in order. */
export function renewedBody(id: string, expiresAt: number): object {
  return { expiresAt: rfc3339(expiresAt), id, renewMethod: 'POST', renewPath: `/renew/${id}`, status: 'ok' }
}

/** A claim for people. Its return values are its holder's. */
export function claimBody(claim: Claim): object {
  const { claimedAt, createdAt, expiresAt, id, isPreProvisioned, message, object, pool, status } = claim
  return {
    id,
    pool,
    status,
    message,
    preProvisioned: isPreProvisioned,
    createdAt: rfc3339(createdAt),
    ...(claimedAt !== undefined && { claimedAt: rfc3339(claimedAt) }),
    ...(expiresAt !== undefined && { expiresAt: rfc3339(expiresAt) }),
    resources: resourceStatusesOf(object),
  }
}

export function poolBody({ nextAttemptAt, ...figures }: PoolStatus): object {
  return { ...figures, ...(nextAttemptAt !== undefined && { nextAttemptAt: rfc3339(nextAttemptAt) }) }
}
