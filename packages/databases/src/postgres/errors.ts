import { asError, type Fate, TenureError } from '@tenure/kube'

interface Meaning {
  readonly code: `TENURE_DB_${string}`
  readonly message: string
  /** Default `retry`: access may be granted, and servers come back. */
  readonly fate?: Fate
  /** The connection is unusable. Default false. */
  readonly isConnectionFailure?: boolean
}

const UNREACHABLE: Meaning = {
  code: 'TENURE_DB_UNREACHABLE',
  message: 'The connection to PostgreSQL failed; check that the server runs and accepts connections',
  isConnectionFailure: true,
}

/** By SQLSTATE, or by its class (the first two characters). */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '08': UNREACHABLE,
  57014: {
    code: 'TENURE_DB_TIMEOUT',
    message: 'PostgreSQL cancelled a statement that took too long; check its load and its locks',
  },
  '57P': UNREACHABLE,
  28: {
    code: 'TENURE_DB_AUTHENTICATION',
    message: 'PostgreSQL rejects the login; check DB_USER, DB_PASSWORD and pg_hba.conf',
    isConnectionFailure: true,
  },
  '3D': {
    code: 'TENURE_DB_MISSING',
    message: 'The database does not exist; create it or change DB_NAME',
    isConnectionFailure: true,
  },
  40: { code: 'TENURE_DB_CONFLICT', message: 'PostgreSQL rolled a transaction back because of a concurrent one' },
  '55P03': { code: 'TENURE_DB_LOCKED', message: 'A row or table stayed locked by another transaction' },
  42501: { code: 'TENURE_DB_FORBIDDEN', message: 'The database user lacks a privilege; grant it' },
  25006: {
    code: 'TENURE_DB_READ_ONLY',
    message: 'The database is read-only; connect to the primary server',
    isConnectionFailure: true,
  },
  23505: { code: 'TENURE_DB_DUPLICATE', message: 'A row with the same key exists' },
  53300: {
    code: 'TENURE_DB_TOO_MANY_CONNECTIONS',
    message: 'PostgreSQL has no free connection; raise max_connections or end unused ones',
    isConnectionFailure: true,
  },
  53: { code: 'TENURE_DB_EXHAUSTED', message: 'PostgreSQL lacks memory or disk space; free some' },
  58: { code: 'TENURE_DB_INTERNAL', message: 'PostgreSQL reports a failure of its system' },
  XX: { code: 'TENURE_DB_INTERNAL', message: 'PostgreSQL reports an internal error' },
}

/** Longer quotations of the server's words are cut. */
const MAX_QUOTED_CHARACTERS = 300

const SQLSTATE = /^[0-9A-Z]{5}$/

/** A failure of the database; `isConnectionFailure` tells those that concern every statement. */
export class DatabaseError extends TenureError {
  readonly isConnectionFailure: boolean
  /** Undefined if the failure did not come from the server. */
  readonly sqlState: string | undefined

  constructor(meaning: Meaning, words: string, sqlState?: string) {
    // The driver's error is not the cause: its `detail` quotes whole rows.
    super(meaning.code, words === '' ? `${meaning.message}.` : `${meaning.message}: ${words}`, {
      fate: meaning.fate ?? 'retry',
    })
    this.isConnectionFailure = meaning.isConnectionFailure ?? false
    this.sqlState = sqlState
  }
}

/** Any failure of the driver as a DatabaseError; other TenureErrors stay as they are. */
export function databaseError(thrown: unknown): TenureError {
  if (thrown instanceof TenureError) return thrown
  const error = asError(thrown)
  const words = quoted(error)
  const state = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  // An error without a SQLSTATE comes from the socket, TLS or the driver: "Connection terminated", "Query read timeout".
  if (state === undefined || !SQLSTATE.test(state)) return new DatabaseError(UNREACHABLE, words)
  const meaning = MEANINGS[state] ?? MEANINGS[state.slice(0, 3)] ?? MEANINGS[state.slice(0, 2)]
  if (meaning !== undefined) return new DatabaseError(meaning, words, state)
  const rejected: Meaning = {
    code: 'TENURE_DB_REJECTED',
    message: `PostgreSQL rejects a statement (${state})`,
    fate: 'terminal',
  }
  return new DatabaseError(rejected, words, state)
}

/** Whether a failure makes the connection unusable, not only one statement. */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof DatabaseError && error.isConnectionFailure
}

export function closedError(): DatabaseError {
  return new DatabaseError({ code: 'TENURE_DB_CLOSED', message: 'The database connection is closed' }, '')
}

function quoted(error: Error): string {
  // Node.js reports a host with several addresses as an AggregateError without a message.
  const text =
    error instanceof AggregateError && error.message === '' ? error.errors.map(String).join('; ') : error.message
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text
}
