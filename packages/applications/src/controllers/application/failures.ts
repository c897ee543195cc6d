import { isDeepStrictEqual } from 'node:util'
import { ApiError, ConnectionError, fateOf, isConflict, TenureError } from '@tenure/kube'
import { isNamespaceTerminating } from '@tenure/runtime'
import type { ApplicationStatus } from '../../api/index.ts'

interface Failure {
  count: number
  status: ApplicationStatus | undefined
}

/** Applications whose last reconcile failed. */
export class Failures {
  readonly #failures = new Map<string, Failure>()

  /** Counts one more failure in a row; true if it should be reported. The first transient error is not. */
  note(key: string, error: unknown): boolean {
    const known = this.#failures.get(key)
    if (known) known.count++
    else this.#failures.set(key, { count: 1, status: undefined })
    return known !== undefined || !isTransient(error)
  }

  /** Whether the last reconcile failed. */
  has(key: string): boolean {
    return this.#failures.has(key)
  }

  /** Remembers the status that is about to be written. */
  report(key: string, status: ApplicationStatus): void {
    const known = this.#failures.get(key)
    if (known) known.status = status
  }

  /** Whether a status is the controller's own report of a failure, which must not trigger a retry. */
  isReport(key: string, status: ApplicationStatus | undefined): boolean {
    const known = this.#failures.get(key)?.status
    return known !== undefined && isDeepStrictEqual(known, status)
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }
}

/** Expected errors that are not reported. */
export function isUnremarkable(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted ||
    isConflict(error) ||
    isNamespaceTerminating(error) ||
    (error instanceof TenureError && error.code === 'TENURE_ELECTION_NOT_LEADER')
  )
}

/** Likely to be gone at the next retry. */
function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429 || error.status === 408
  return error instanceof TenureError && error.code === 'TENURE_APPLICATION_NAME_LEAVING'
}

/** Every error is retried: quotas, policies and other objects change without a change of the Application. */
export function asRetryable(error: unknown): unknown {
  if (!(error instanceof TenureError) || fateOf(error) !== 'terminal') return error
  return new TenureError('TENURE_APPLICATION_REFUSED', error.message, { fate: 'retry', cause: error })
}
