import { ApiError } from './errors.ts'

/**
 * Whether the server will not have this object as it is. A quota and somebody's webhook answer with the status of a
 * missing right; who lacks one is always called a user that can not do something.
 */
export const isRefusedAsIs = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 400 || error.status === 422 || (error.status === 403 && isAboutObject(error.message)))

/** Of the message of a 403. */
export function isAboutObject(message: string): boolean {
  return /is forbidden: (?!User )|denied the request/.test(message)
}
