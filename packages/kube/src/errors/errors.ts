import type { DeniedAccess } from './forbidden.ts'

/**
 * How to handle a failure.
 * - `retry`: the same attempt may succeed later, after a backoff.
 * - `terminal`: the attempt cannot succeed until its input changes.
 * - `bug`: an invariant of this program is broken.
 */
export type Fate = 'retry' | 'terminal' | 'bug'

export interface TenureErrorOptions {
  readonly cause?: unknown
  /** Default `terminal`. */
  readonly fate?: Fate
}

/** The base of all errors of Tenure: a stable code, a message for people, the cause, and the fate. */
export class TenureError extends Error {
  readonly code: string
  readonly fate: Fate

  constructor(code: `TENURE_${string}`, message: string, options: TenureErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.fate = options.fate ?? 'terminal'
  }
}

/** The `Status` object of an error response from a Kubernetes API server. */
export interface Status {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
  }
}

export interface ApiErrorFields {
  /** The HTTP status, or the `code` of an in-stream watch error. */
  readonly status: number
  /** The machine-readable reason: `NotFound`, `AlreadyExists`, `Conflict`, `Expired`, `Forbidden`… */
  readonly reason: string
  readonly details?: Status['details']
  /** How long the server asked to wait, from `Retry-After` or the Status, in milliseconds. */
  readonly retryAfter?: number | undefined
  /** Of a 403: the access that the user lacks. */
  readonly deniedAccess?: DeniedAccess | undefined
  /** Of a 403: admission (a quota, a webhook) denied the object. Default false. */
  readonly isAdmissionDenial?: boolean
  /** The server accepts only TLS, and the request came without it. Default false. */
  readonly isTlsRequired?: boolean
}

/** A request that the API server answered with an error. */
export class ApiError extends TenureError implements ApiErrorFields {
  readonly status: number
  readonly reason: string
  readonly details: Status['details']
  readonly retryAfter: number | undefined
  readonly deniedAccess: DeniedAccess | undefined
  readonly isAdmissionDenial: boolean
  readonly isTlsRequired: boolean

  constructor(message: string, fields: ApiErrorFields, options: TenureErrorOptions = {}) {
    super(`TENURE_API_${constantCase(fields.reason)}`, message, {
      fate: isRetryable(fields.status, fields.reason) ? 'retry' : 'terminal',
      ...options,
    })
    this.status = fields.status
    this.reason = fields.reason
    this.details = fields.details
    this.retryAfter = fields.retryAfter
    this.deniedAccess = fields.deniedAccess
    this.isAdmissionDenial = fields.isAdmissionDenial ?? false
    this.isTlsRequired = fields.isTlsRequired ?? false
  }
}

/** A request without a response: no connection, a broken one, a rejected certificate, a time-out. */
export class ConnectionError extends TenureError {
  constructor(code: `TENURE_${string}`, message: string, options: TenureErrorOptions = {}) {
    super(code, message, { fate: 'retry', ...options })
  }
}

export function isApiError(error: unknown, reason?: string): error is ApiError {
  return error instanceof ApiError && (reason === undefined || error.reason === reason)
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404
export const isAlreadyExists = (error: unknown): boolean => isApiError(error, 'AlreadyExists')
export const isConflict = (error: unknown): boolean => isApiError(error, 'Conflict')
/** The server no longer knows the resourceVersion or continue token: list again. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 410

/** Whether the server rejects this object as it is: it is invalid, or admission denies it. */
export const isObjectRejected = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 400 || error.status === 422 || (error.status === 403 && error.isAdmissionDenial))

/** Any thrown value as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** The fate of any thrown value. Errors that are not a TenureError are bugs. */
export function fateOf(thrown: unknown): Fate {
  return thrown instanceof TenureError ? thrown.fate : 'bug'
}

// 401 and 403 are included: credentials and roles may be granted later.
const RETRYABLE_STATUS = new Set([401, 403, 408, 409, 410, 425, 429, 500, 502, 503, 504])

function isRetryable(status: number, reason: string): boolean {
  return RETRYABLE_STATUS.has(status) && reason !== 'AlreadyExists'
}

function constantCase(reason: string): string {
  return reason.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()
}
