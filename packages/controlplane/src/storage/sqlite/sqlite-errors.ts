import type { RefusalCode } from './sqlite-messages.ts'

/** Why a file is not opened. */
export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

export function damaged(file: string, what: string, cause?: unknown): Refusal {
  return new Refusal(
    'TENURE_STORAGE_DAMAGED',
    `the storage in ${file} is damaged: ${what}; it is left as it is: restore it from a copy, or move it away to start empty`,
    cause,
  )
}

// SQLite's result codes; extended ones have them in their lowest byte.
const BUSY = 5
const LOCKED = 6
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const NOT_A_DATABASE = 26

/** Any failure to open or read `file`, as a refusal with a sentence for a person. */
export function refusalFor(file: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const text = error instanceof Error ? error.message : String(error)
  switch (sqliteCode(error)) {
    case BUSY:
    case LOCKED:
      return new Refusal(
        'TENURE_STORAGE_IN_USE',
        `the storage in ${file} is in use by another process: stop it, or choose another data directory`,
        error,
      )
    case CORRUPT:
    case NOT_A_DATABASE:
      return damaged(file, text, error)
    default:
      return new Refusal(
        'TENURE_STORAGE_UNUSABLE',
        `the storage in ${file} can not be opened: ${text}; check that the directory exists, is writable and has space`,
        error,
      )
  }
}

/** Why a write failed, for a person. */
export function writeFailure(file: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  switch (sqliteCode(error)) {
    case FULL:
      return `the write was not stored: no space is left for ${file} (${text}); free some, then try again`
    case IO_ERROR:
      return `the write was not stored: the disk of ${file} failed (${text}); check it, then try again`
    case CORRUPT:
    case NOT_A_DATABASE:
      return `the write was not stored: ${file} is damaged (${text}); stop the control plane and restore it from a copy`
    default:
      return `the write was not stored in ${file}: ${text}`
  }
}

function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error ? (error as { readonly errcode?: unknown }).errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}
