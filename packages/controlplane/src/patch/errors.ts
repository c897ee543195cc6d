import { StatusError } from '../errors.ts'

/** A JSON patch that does not fit the object. The real server keeps the details to itself. */
export const notApplicable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

/** What the real server has no better answer for than a 500 without a reason. */
export const unexplained = (message: string): StatusError => new StatusError(500, '', message)

export const tooLarge = (message: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
