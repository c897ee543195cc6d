import type { BodyFailure } from '@tenure/runtime/serving'
import { HttpError, unavailable } from '../errors/http-error.ts'

/** The response to a body that could not be read. */
export function bodyError(failure: BodyFailure, maxBytes: number): HttpError {
  switch (failure) {
    case 'tooLarge':
      return new HttpError('TENURE_HTTP_TOO_LARGE', 413, `The body is larger than ${maxBytes} bytes`)
    case 'cut':
      return new HttpError('TENURE_HTTP_INCOMPLETE', 400, 'The body ended before it was complete')
    case 'tooSlow':
      return new HttpError('TENURE_HTTP_TOO_SLOW', 408, 'The body did not arrive in time')
    case 'overBudget':
      return unavailable('The server handles too many requests; try again')
    default:
      return failure satisfies never
  }
}
