export { CLAIM_SELECTOR, LABELS as CLAIM_LABELS, ANNOTATIONS as CLAIM_ANNOTATIONS } from './api/names.ts'
export { type Claim, claimOf } from './api/claim.ts'
