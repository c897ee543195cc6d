import { constants } from 'node:os'
import { asError, TenureError } from '@tenure/kube'
import { ClaimError } from '../client/index.ts'

/** The codes of timeout(1) and docker run, which scripts know. */
export const EXIT_CODES = {
  failed: 1,
  /** Invalid input; nothing was taken. */
  usage: 2,
  /** The claim was lost while the command ran. */
  lost: 124,
  /** No claim could be taken, so the command did not run. */
  notTaken: 125,
  notExecutable: 126,
  notFound: 127,
} as const

const USAGE_CODES: readonly string[] = [
  'TENURE_CLAIM_ARGUMENT',
  'TENURE_CLAIM_INVALID_REQUEST',
  'TENURE_CLAIM_UNKNOWN_POOL',
  'TENURE_CLAIM_KEY_REUSED',
]

/** The code of a process that a signal ended, as shells report it. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** Invalid input, found here or by the server. */
export function isUsageError(error: unknown): boolean {
  return (error instanceof ClaimError || error instanceof TenureError) && USAGE_CODES.includes(error.code)
}

export function argumentError(message: string, cause?: unknown): ClaimError {
  return new ClaimError('TENURE_CLAIM_ARGUMENT', message, { cause })
}

/** A failure in whole sentences, with what to do about it. */
export function describeFailure(error: unknown, url: string): string {
  const { message } = asError(error)
  // Messages of the server end without a full stop.
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`
  if (!(error instanceof ClaimError)) return sentence
  if (error.status !== undefined) return `The claims API at ${url} answered ${error.status}: ${sentence}`
  if (error.code !== 'TENURE_CLAIM_UNREACHABLE') return sentence
  return `${sentence} Is the claims operator running there? Set another address with --url or CLAIMS_URL.`
}
