import { HttpError, invalidRequest, notFound } from '@tenure/http'
import { ApiError } from '@tenure/kube'
import { isNamespaceTerminating } from '@tenure/runtime'
import { detailsOf } from '../validation/validate.ts'

export const resourceNotFound = (): HttpError => notFound('Resource not found')

export function conflict(message: string, field: string, value?: unknown): HttpError {
  const details = [{ field, message, ...(value !== undefined && { value }) }]
  return new HttpError('TENURE_HTTP_CONFLICT', 409, 'Conflict', { details })
}

/** Translates an error of the API server about an Application for the caller; any other error is returned as it is. */
export function toHttpError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const details = detailsOf(error)
  if (details) return invalidRequest(details, error)
  if (error.reason === 'AlreadyExists') {
    return new HttpError('TENURE_HTTP_CONFLICT', 409, 'Resource already exists', { cause: error })
  }
  if (isNamespaceTerminating(error)) {
    return new HttpError('TENURE_HTTP_CONFLICT', 409, 'Namespace is being deleted', { cause: error })
  }
  if (isMissingNamespace(error)) return notFound('Namespace not found')
  if (error.status === 404 && error.details?.name) return resourceNotFound()
  if (error.status === 413) {
    return new HttpError('TENURE_HTTP_TOO_LARGE', 413, 'The Application is too large to be stored', { cause: error })
  }
  // Another webhook or a quota refuses the Application; the message says why.
  if (error.isAdmissionDenial) return new HttpError('TENURE_HTTP_FORBIDDEN', 403, error.message, { cause: error })
  return error
}

/** Whether a create failed because the namespace does not exist. */
export function isMissingNamespace(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404 && error.details?.kind === 'namespaces'
}
