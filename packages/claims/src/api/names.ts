/** Names the operator in the cluster: its field manager, the reporter of its Events and the value of the managed-by label. */
export const OPERATOR = 'claim-controller'
/** Names the Lease of its election. */
export const LEADER_LEASE = `${OPERATOR}-leader`
/** The pool that flags and environment variables describe, and that claims without a pool belong to. */
export const DEFAULT_POOL = 'default'

const PREFIX = 'claim-controller.io'
/** The API group of `claims` in RBAC rules for callers of the HTTP API. No such resource exists in the API server. */
export const GROUP = PREFIX

export const LABELS = {
  managedBy: `${PREFIX}/managed-by`,
  /** Name of the claim: on the claim and on its children. */
  claim: `${PREFIX}/claim`,
  /** Id of the claim: on the claim alone, so a child that is a ConfigMap is not taken for a claim. */
  id: `${PREFIX}/claim.id`,
  pool: `${PREFIX}/pool`,
  /** Hash of the caller that holds the claim. Only with `maxClaimsPerCaller`. */
  caller: `${PREFIX}/caller`,
} as const

export const ANNOTATIONS = {
  /** When the claim ends. Absent while it sits in the pool. */
  expiresAt: `${PREFIX}/expires-at`,
  createdBy: `${PREFIX}/created-by`,
  preProvisioned: `${PREFIX}/pre-provisioned`,
  /** When the claim was handed out. Absent while it sits in the pool. */
  claimedAt: `${PREFIX}/claimed-at`,
  /** Version of the template and values that the claim was rendered from. */
  revision: `${PREFIX}/template-revision`,
  /** Random value of the hand-out, by which a replica recognizes its own write after a lost response. */
  handOut: `${PREFIX}/hand-out`,
  /** Hash of the Idempotency-Key that the claim was taken with. */
  idempotencyKey: `${PREFIX}/idempotency-key`,
  /** Why the claim cannot become ready, as one word of `FailureCause`. */
  failure: `${PREFIX}/failure`,
  /** `true`: some of what was rendered is in the Secret of the claim. */
  hasSecrets: `${PREFIX}/has-secrets`,
  /** `true`: the return values are in the Secret of the claim, too. */
  hasSecretReturns: `${PREFIX}/has-secret-return-values`,
} as const

/** Annotations that templates use. */
export const TEMPLATE_ANNOTATIONS = {
  /** `k=v` pairs that the caller of a claim gets. */
  return: 'claim.controller/return',
  /** Both spellings are in use. */
  lazy: ['claim.controller/lazy-provisionning', 'claim.controller/lazy.provisionning'],
} as const

/** Keys of a claim's data, and of its Secret's. */
export const DATA = {
  renderedResources: 'renderedResources',
  returnValues: 'returnValues',
  status: 'claimStatus',
  message: 'claimStatusMessage',
  resourcesStatus: 'claimResourcesStatus',
} as const

/** Selects claims, and not their children. */
export const CLAIM_SELECTOR = `${LABELS.managedBy}=${OPERATOR},${LABELS.id}`
/** Selects claims and their children. */
export const MANAGED_SELECTOR = `${LABELS.managedBy}=${OPERATOR}`

export const REASONS = {
  createdResource: 'CreatedResource',
  expired: 'Expired',
  released: 'Released',
  failed: 'ClaimFailed',
  incomplete: 'ClaimIncomplete',
  expiryRepaired: 'ExpiryRepaired',
  memberReplaced: 'MemberReplaced',
  poolFailing: 'PoolFailing',
  poolRecovered: 'PoolRecovered',
  templateFailed: 'TemplateFailed',
} as const
