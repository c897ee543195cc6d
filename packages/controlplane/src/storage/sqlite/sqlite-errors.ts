import { markFileOf } from './high-water-mark.ts'
import type { OpenErrorCode } from './sqlite-messages.ts'

/** Why a file cannot be opened. */
export class OpenError extends Error {
  readonly code: OpenErrorCode

  constructor(code: OpenErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

export function damaged(file: string, what: string, cause?: unknown): OpenError {
  return new OpenError(
    'TENURE_STORAGE_DAMAGED',
    `The storage in ${file} is damaged: ${what}. It is not changed: restore it from a copy, or move it away to start empty.`,
    cause,
  )
}

/** The file ends before the newest acknowledged revision. */
export function behind(file: string, newest: number | undefined, acknowledged: number): OpenError {
  const state = newest === undefined ? 'is missing' : `ends at revision ${newest}`
  return new OpenError(
    'TENURE_STORAGE_BEHIND',
    `Writes are lost: the storage in ${file} ${state}, but revision ${acknowledged} was acknowledged. It is not changed. ` +
      `Put back ${file} and ${file}-wal as they were, or restore a copy of both. To accept the loss and continue with what is left, remove ${markFileOf(file)}.`,
  )
}

// SQLite result codes; the lowest byte of an extended code is its result code.
const BUSY = 5
const LOCKED = 6
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const NOT_A_DATABASE = 26

/** Converts any failure to open or read `file` into an error with a message for a person. */
export function openErrorFor(file: string, error: unknown): OpenError {
  if (error instanceof OpenError) return error
  const text = error instanceof Error ? error.message : String(error)
  switch (sqliteCode(error)) {
    case BUSY:
    case LOCKED:
      return new OpenError(
        'TENURE_STORAGE_IN_USE',
        `The storage in ${file} is in use by another process. Stop that process, or choose another data directory.`,
        error,
      )
    case CORRUPT:
    case NOT_A_DATABASE:
      return damaged(file, text, error)
    default:
      return new OpenError(
        'TENURE_STORAGE_UNUSABLE',
        `The storage in ${file} cannot be opened: ${text}. Check that the directory exists, is writable and has space.`,
        error,
      )
  }
}

/** Explains to a person why a write failed. */
export function writeFailure(file: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  switch (sqliteCode(error)) {
    case FULL:
      return `The write was not stored: no space is left for ${file} (${text}). Free some, then try again.`
    case IO_ERROR:
      return `The write was not stored: the disk of ${file} failed (${text}). Check it, then try again.`
    case CORRUPT:
    case NOT_A_DATABASE:
      return `The write was not stored: ${file} is damaged (${text}). Stop the control plane and restore it from a copy.`
    default:
      return `The write was not stored in ${file}: ${text}`
  }
}

function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error ? (error as { readonly errcode?: unknown }).errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}
