import { asError, TenureError } from '@tenure/kube'
import { isDbArgumentError } from '../platform/argument-error.ts'

export const DB_EXIT_CODES = {
  failed: 1,
  /** Invalid input; nothing was written. */
  usage: 2,
} as const

/** The exit code of a failure. */
export function dbExitCode(error: unknown): number {
  return isDbArgumentError(error) ? DB_EXIT_CODES.usage : DB_EXIT_CODES.failed
}

/** A failure in whole sentences, with what to do about it. */
export function describeDbFailure(error: unknown, source: string): string {
  const { message } = asError(error)
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`
  if (!(error instanceof TenureError) || !error.code.startsWith('TENURE_DB_')) return sentence
  return `${sentence} The address comes from ${source}.`
}
