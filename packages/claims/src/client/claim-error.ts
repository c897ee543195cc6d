export type ClientErrorCode =
  | 'TENURE_CLAIM_ARGUMENT'
  | 'TENURE_CLAIM_INVALID_REQUEST'
  | 'TENURE_CLAIM_UNKNOWN_POOL'
  | 'TENURE_CLAIM_NOT_FOUND'
  | 'TENURE_CLAIM_MAX_TTL'
  | 'TENURE_CLAIM_KEY_REUSED'
  | 'TENURE_CLAIM_TOO_MANY'
  | 'TENURE_CLAIM_DENIED'
  | 'TENURE_CLAIM_REQUEST_FAILED'
  | 'TENURE_CLAIM_UNREACHABLE'
  | 'TENURE_CLAIM_TIMEOUT'
  | 'TENURE_CLAIM_ANSWER_INVALID'
  | 'TENURE_CLAIM_LOST'

export interface ClaimErrorOptions {
  /** HTTP status of the response. Undefined if there was none. */
  readonly status?: number | undefined
  /** Milliseconds that the server asks to wait. */
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** A claim that cannot be taken, renewed or released. The message is the server's, if it sent one. */
export class ClaimError extends Error {
  override readonly name = 'ClaimError'
  readonly code: ClientErrorCode
  readonly status: number | undefined
  readonly retryAfter: number | undefined
  /** `retry`: the same call may succeed later. As in TenureError, which a browser cannot load. */
  readonly fate: 'retry' | 'terminal'

  constructor(code: ClientErrorCode, message: string, options: ClaimErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = options.status
    this.retryAfter = options.retryAfter
    this.fate = isTransient(code, options.status) ? 'retry' : 'terminal'
  }
}

function isTransient(code: ClientErrorCode, status: number | undefined): boolean {
  if (status === undefined) return code === 'TENURE_CLAIM_UNREACHABLE' || code === 'TENURE_CLAIM_TIMEOUT'
  return status === 429 || status >= 500
}

/** Returns true if the claim has ended or cannot be extended any more. */
export function isOver(error: unknown): error is ClaimError {
  return (
    error instanceof ClaimError && (error.code === 'TENURE_CLAIM_NOT_FOUND' || error.code === 'TENURE_CLAIM_MAX_TTL')
  )
}
