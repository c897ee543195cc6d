// Rows as the views serve them, for commands that read a cluster without the operator.
export { type Claim, claimOf } from './api/claim.ts'
export { CLAIM_SELECTOR, LEADER_LEASE, MANAGED_SELECTOR, OPERATOR } from './api/names.ts'
export { poolStatus } from './controllers/pool/status.ts'
export { claimRow } from './http/views/claim-row.ts'
export type { ClaimRow } from './http/views/claims-view.ts'
