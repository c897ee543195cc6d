import { StatusError } from '../errors.ts'

/** A JSON patch that does not apply to the object. kube-apiserver gives no details. */
export const notApplicable = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

/** A 500 without a reason, as kube-apiserver answers errors that it does not classify. */
export const unclassified = (message: string): StatusError => new StatusError(500, '', message)

export const tooLarge = (message: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
