import { TenureError } from '@tenure/kube'

const CODE = 'TENURE_DATABASE_ARGUMENT'

/** A value that the operator would refuse; nothing was written. */
export function dbArgumentError(message: string, cause?: unknown): TenureError {
  return new TenureError(CODE, message, { cause })
}

export function isDbArgumentError(error: unknown): error is TenureError {
  return error instanceof TenureError && error.code === CODE
}
