import { ApiError, asError, ConnectionError } from '@tenure/kube'
import type { HttpResponse } from '../routes/response.ts'
import { json } from '../routes/response.ts'
import { HttpError, invalidRequest, notFound, unavailable } from './http-error.ts'

/** Maps any failure to a response: an error of the caller, an unavailable service, or a 500 without details. */
export function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown
  if (thrown instanceof ConnectionError) return unavailable('The Kubernetes API cannot be reached now', thrown)
  if (thrown instanceof ApiError) return fromApi(thrown)
  const { code, statusCode } = asError(thrown) as Error & { code?: unknown; statusCode?: unknown }
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new HttpError('TENURE_HTTP_MEDIA_TYPE', 415, 'Send JSON, with the header Content-Type: application/json')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpError('TENURE_HTTP_INCOMPLETE', 400, 'The body is not as long as its Content-Length says')
    // Nothing has a name of that length.
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return notFound()
    case 'FST_ERR_BAD_URL':
      return invalidRequest([{ field: 'path', message: 'The path cannot be read' }], thrown)
    default:
      break
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new HttpError('TENURE_HTTP_BAD_REQUEST', statusCode, 'Bad Request', { cause: thrown })
  }
  return new HttpError('TENURE_HTTP_INTERNAL', 500, 'Internal Server Error', { cause: thrown })
}

/** `{"error": …, "details": […]}`. */
export function errorResponse({ status, message, details, headers }: HttpError): HttpResponse {
  return json(status, { error: message, ...(details && { details }) }, { indent: 0, headers })
}

function fromApi(error: ApiError): HttpError {
  if (error.status === 429 || error.status >= 500) {
    return unavailable('The Kubernetes API cannot do this now; try again', error)
  }
  // No route handled this error. Its message may be about this server and is not sent to the caller.
  return new HttpError('TENURE_HTTP_UPSTREAM', 502, `The Kubernetes API refused: ${error.reason}`, { cause: error })
}
