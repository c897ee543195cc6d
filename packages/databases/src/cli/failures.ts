import { asError, TenureError } from '@tenure/kube'

const USAGE_CODE = 'TENURE_DATABASE_ARGUMENT'

export const DB_EXIT_CODES = {
  failed: 1,
  /** Invalid input; nothing was written. */
  usage: 2,
} as const

export function dbArgumentError(message: string, cause?: unknown): TenureError {
  return new TenureError(USAGE_CODE, message, { cause })
}

/** The exit code of a failure. */
export function dbExitCode(error: unknown): number {
  const isUsage = error instanceof TenureError && error.code === USAGE_CODE
  return isUsage ? DB_EXIT_CODES.usage : DB_EXIT_CODES.failed
}

/** A failure in whole sentences, with what to do about it. */
export function describeDbFailure(error: unknown, source: string): string {
  const { message } = asError(error)
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`
  if (!(error instanceof TenureError) || !error.code.startsWith('TENURE_DB_')) return sentence
  return `${sentence} The address comes from ${source}.`
}
