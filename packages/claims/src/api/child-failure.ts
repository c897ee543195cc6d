import { ApiError, isConflict, isNotFound, isObjectRejected, TenureError } from '@tenure/kube'

/**
 * An error about a child that reveals nothing of the child. The API server quotes the fields that it refuses, and those
 * may be values of a caller, or of a Secret.
 */
export function childFailure(kind: string, name: string): (error: unknown) => unknown {
  return (error) => {
    if (!(error instanceof ApiError) || isConflict(error) || isNotFound(error)) return error
    const fields = (error.details?.causes ?? []).flatMap(({ field }) => (field ? withoutKeys(field) : []))
    const where = fields.length > 0 ? `: see ${[...new Set(fields)].join(', ')}` : ''
    return new TenureError(
      'TENURE_CLAIM_CHILD_REFUSED',
      `The API server refuses ${kind} ${name} (${error.status} ${error.reason})${where}`,
      { fate: isObjectRejected(error) ? 'terminal' : error.fate },
    )
  }
}

/** Keys of maps in the path of a field may be values, too; positions in lists stay. */
function withoutKeys(field: string): string {
  return field.replaceAll(/\[(?!\d+\])[^\]]*\]/g, '[…]')
}
