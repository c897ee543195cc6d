import { ApiError, ConnectionError, isConflict } from '@tenure/kube'

export interface RetrySettings {
  /** Tries after which a job fails. */
  readonly maxRetries: number
  /** Milliseconds. */
  readonly base: number
  readonly max: number
}

/** Milliseconds before the next look at pods that fail. */
export function retryDelay({ base, max }: RetrySettings, attempts: number): number {
  return Math.min(base * 2 ** attempts, max)
}

function isDatabaseFailure(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('TENURE_DB_')
}

function isApiUnavailable(error: Error): boolean {
  if (error instanceof ConnectionError) return true
  return error instanceof ApiError && [429, 502, 503, 504].includes(error.status)
}

/** A race that a repetition heals, and servers that do not answer, are not the row's failures. */
export function countsAsTry(error: Error): boolean {
  return !isConflict(error) && !isDatabaseFailure(error) && !isApiUnavailable(error)
}
