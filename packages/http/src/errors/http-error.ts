import { TenureError } from '@tenure/kube'
import type { Headers } from '../routes/response.ts'

/** One problem of a request. */
export interface Detail {
  /** The field: `spec.replicas`, `limit`. */
  readonly field: string
  readonly message: string
  readonly value?: unknown
}

export type HttpErrorCode = `TENURE_HTTP_${string}`

export interface HttpErrorOptions {
  readonly details?: readonly Detail[] | undefined
  readonly headers?: Headers | undefined
  readonly cause?: unknown
}

/** A rejected request. The response is `status` and `{"error": <message>, "details": […]}`, unless the route shapes it. */
export class HttpError extends TenureError {
  readonly status: number
  readonly details: readonly Detail[] | undefined
  readonly headers: Headers

  constructor(code: HttpErrorCode, status: number, message: string, options: HttpErrorOptions = {}) {
    super(code, message, { cause: options.cause, fate: status >= 500 ? 'retry' : 'terminal' })
    this.status = status
    this.details = options.details
    this.headers = options.headers ?? {}
  }
}

export function notFound(message = 'Not Found'): HttpError {
  return new HttpError('TENURE_HTTP_NOT_FOUND', 404, message)
}

export function invalidRequest(details: readonly Detail[], cause?: unknown): HttpError {
  return new HttpError('TENURE_HTTP_INVALID', 400, 'Validation failed', { details, cause })
}

export function unavailable(message: string, cause?: unknown): HttpError {
  return new HttpError('TENURE_HTTP_UNAVAILABLE', 503, message, { headers: { 'retry-after': '1' }, cause })
}
