// The client of the claims API, for Node and for browsers: these files import only each other.
export { claim, ClaimsClient } from './claims-client.ts'
export { ClaimError, type ClaimErrorOptions, type ClientErrorCode } from './claim-error.ts'
export type { HeldClaim } from './held-claim.ts'
export type {
  ClientCallOptions,
  ClaimCallOptions,
  HoldOptions,
  ClaimsClientOptions,
  ClientClock,
  ClientFetch,
  ClientRandom,
  ClientTimer,
  TakeOptions,
} from './options.ts'
export type { ClaimGrant, ClaimDetails, ClaimList, PoolDetails, RenewalGrant, ResourceDetails } from './responses.ts'
