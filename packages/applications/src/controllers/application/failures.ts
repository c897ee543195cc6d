import { isDeepStrictEqual } from 'node:util'
import { ApiError, ConnectionError, fateOf, isConflict, TenureError } from '@tenure/kube'
import { isNamespaceEnding } from '@tenure/runtime'
import type { ApplicationStatus } from '../../api/index.ts'

interface Failure {
  count: number
  status: ApplicationStatus | undefined
}

/** What this process remembers of Applications that fail just now. */
export class Failures {
  readonly #failures = new Map<string, Failure>()

  /** Notes one more failure in a row; true if people should be told of it, not of a mere hiccup. */
  note(key: string, error: unknown): boolean {
    const known = this.#failures.get(key)
    if (known) known.count++
    else this.#failures.set(key, { count: 1, status: undefined })
    return known !== undefined || !isHiccup(error)
  }

  /** Whether its last try failed. */
  has(key: string): boolean {
    return this.#failures.has(key)
  }

  /** The status that is about to be written for it. */
  report(key: string, status: ApplicationStatus): void {
    const known = this.#failures.get(key)
    if (known) known.status = status
  }

  /** Whether a status is just our own report of a failure: seeing it is no reason to try again. */
  isReport(key: string, status: ApplicationStatus | undefined): boolean {
    const known = this.#failures.get(key)?.status
    return known !== undefined && isDeepStrictEqual(known, status)
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }
}

/** Part of the day's work, or of our own end: nobody needs to be told. */
export function isUnremarkable(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted ||
    isConflict(error) ||
    isNamespaceEnding(error) ||
    (error instanceof TenureError && error.code === 'TENURE_ELECTION_NOT_LEADER')
  )
}

/** Likely to be over at the next try. */
function isHiccup(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429 || error.status === 408
  return error instanceof TenureError && error.code === 'TENURE_APPLICATION_NAME_LEAVING'
}

/** Nothing is given up for good: quotas, policies and other people's objects change without the Application changing. */
export function asRetryable(error: unknown): unknown {
  if (!(error instanceof TenureError) || fateOf(error) !== 'terminal') return error
  return new TenureError('TENURE_APPLICATION_REFUSED', error.message, { fate: 'retry', cause: error })
}
