/** What became of the cleanup of one expiry, kept on the object itself so that a restart neither forgets nor repeats it. */
export interface CleanupRecord {
  /** Of the last job, undefined if none could be made. */
  readonly job?: string
  /** Which expiry: a lease that was extended has another, and this record is about an earlier one. */
  readonly expireAt: string
  /** How many jobs there were. */
  readonly attempt: number
  /**
   * - `running`: the job is waited for.
   * - `done`: nothing more stands between the object and its deletion.
   * - `failed`: the object is kept, and another job is made at `retryAt`.
   */
  readonly state: 'running' | 'done' | 'failed'
  readonly retryAt?: string
  /** The job took too long and had not ended: what becomes of it still counts. */
  readonly givenUp?: true
}

/** The record of the expiry at `expireAt`; undefined if there is none, or only of another. */
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
  // Every field was looked at.
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
