import { ApiError } from '@tenure/kube'

/**
 * A create was refused because the namespace is being deleted. It is no trouble: what the object was made for goes too,
 * and nobody need be told.
 */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 403) return false
  return error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false
}
