import { TenureError } from '@tenure/kube'

export type ClaimErrorCode =
  | 'TENURE_CLAIM_INVALID_REQUEST'
  | 'TENURE_CLAIM_UNKNOWN_POOL'
  | 'TENURE_CLAIM_NOT_FOUND'
  | 'TENURE_CLAIM_NOT_MANAGED'
  | 'TENURE_CLAIM_MAX_TTL'
  | 'TENURE_CLAIM_KEY_REUSED'
  | 'TENURE_CLAIM_TOO_MANY'
  | 'TENURE_CLAIM_CREATE_TIMEOUT'
  | 'TENURE_CLAIM_CREATE_FAILED'
  | 'TENURE_CLAIM_READY_TIMEOUT'
  | 'TENURE_CLAIM_READY_FAILED'
  | 'TENURE_CLAIM_LOAD_FAILED'
  | 'TENURE_CLAIM_DELETE_FAILED'
  | 'TENURE_CLAIM_RENEW_FAILED'
  | 'TENURE_CLAIM_STOPPING'

/** A claim that cannot be taken, renewed or released. */
export class ClaimFailure extends TenureError {
  declare readonly code: ClaimErrorCode
  /** The HTTP status of the response. */
  readonly status: number
  /** Seconds after which the caller may try again. */
  readonly retryAfter: number | undefined

  constructor(
    code: ClaimErrorCode,
    status: number,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfter?: number } = {},
  ) {
    super(code, message, { cause: options.cause, fate: status >= 500 ? 'retry' : 'terminal' })
    this.status = status
    this.retryAfter = options.retryAfter
  }
}

export const claimNotFound = (): ClaimFailure => new ClaimFailure('TENURE_CLAIM_NOT_FOUND', 404, 'claim not found')
