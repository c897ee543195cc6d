import { ApiError } from '@tenure/kube'

/**
 * True if a create was rejected because the namespace is terminating. The owner of the object is deleted with it, so
 * this is not worth an Event or a warning.
 */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 403) return false
  return error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false
}
