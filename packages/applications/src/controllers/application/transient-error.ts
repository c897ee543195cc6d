import { ApiError, ConnectionError, TenureError } from '@tenure/kube'

/** Whether an error is likely to be gone at the next retry. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429 || error.status === 408
  return error instanceof TenureError && error.code === 'TENURE_APPLICATION_NAME_LEAVING'
}
