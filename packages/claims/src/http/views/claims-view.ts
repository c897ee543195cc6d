import type { View } from '@tenure/http'
import { z } from 'zod'
import { claimOf } from '../../api/claim.ts'
import { GROUP } from '../../api/names.ts'
import type { ClaimView } from '../../handout/claim-view.ts'
import { claimRow } from './claim-row.ts'

const schema = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  pool: z.string(),
  status: z.enum(['pending', 'ready', 'failed']),
  message: z.string(),
  /** It waits in its pool. */
  isIdle: z.boolean(),
  preProvisioned: z.boolean(),
  createdAt: z.int(),
  claimedAt: z.int().optional(),
  expiresAt: z.int().optional(),
  /** Return values, except those that only the claim's Secret has. */
  data: z.record(z.string(), z.string()),
  resources: z.array(z.object({ kind: z.string(), name: z.string(), ready: z.boolean(), message: z.string() })),
})

export type ClaimRow = z.output<typeof schema>

export const CLAIMS_RESOURCE = { group: GROUP, resource: 'claims' }

/** The claims of the operator's namespace that are not terminating, also those that wait in a pool. */
export function claimsView(claims: ClaimView): View<ClaimRow> {
  return {
    name: 'claims',
    title: 'Claims',
    schema,
    resourceOf: () => CLAIMS_RESOURCE,
    *rows() {
      for (const claim of claims.all()) if (!claim.isTerminating) yield claimRow(claim)
    },
    row(id) {
      const claim = claims.get(id)
      return claim && !claim.isTerminating ? claimRow(claim) : undefined
    },
    subscribe: (listener) =>
      claims.informer.subscribe(
        ({ object }) => {
          const claim = claimOf(object)
          if (claim) listener(claim.id)
        },
        { replay: false },
      ),
  }
}
