/** State of the cleanup of one expiry, stored on the object so that it survives a restart. */
export interface CleanupRecord {
  /** Name of the last job; undefined if none could be created. */
  readonly job?: string
  /** The expiry that this record belongs to: an extended lease has another. */
  readonly expireAt: string
  /** Number of jobs so far. */
  readonly attempt: number
  /**
   * - `running`: the object waits for the job.
   * - `done`: the object may be deleted.
   * - `failed`: the object is kept, and another job is created at `retryAt`.
   */
  readonly state: 'running' | 'done' | 'failed'
  readonly retryAt?: string
  /** The job timed out without finishing: its result still counts. */
  readonly givenUp?: true
}

/** The record of the expiry at `expireAt`; undefined if it is missing, invalid or of another expiry. */
export function readRecord(text: string | undefined, expireAt: string): CleanupRecord | undefined {
  if (text === undefined) return undefined
  const value = parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as { readonly [K in keyof CleanupRecord]?: unknown }
  const isRecord =
    record.expireAt === expireAt &&
    Number.isSafeInteger(record.attempt) &&
    (record.state === 'running' || record.state === 'done' || record.state === 'failed') &&
    (record.job === undefined || typeof record.job === 'string') &&
    (record.retryAt === undefined || typeof record.retryAt === 'string') &&
    (record.givenUp === undefined || record.givenUp === true)
  // Every field is checked above.
  return isRecord ? (record as CleanupRecord) : undefined
}

export function printRecord(record: CleanupRecord): string {
  return JSON.stringify(record)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
