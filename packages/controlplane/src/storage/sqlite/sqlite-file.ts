import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { PRIVATE_FILE, syncDirectory } from '../../durable-files.ts'
import type { FlatRows, WorkerOptions } from './sqlite-messages.ts'
import { HighWaterMark, markFileOf } from './high-water-mark.ts'
import { behind, damaged, OpenError, openErrorFor } from './sqlite-errors.ts'
import { lostTransactions } from './wal-check.ts'

/** "TENU": marks a file of Tenure. */
const APPLICATION_ID = 0x54454e55
const FORMAT = 1
const PAGE_SIZE = 8192
const ROWS_PER_CHUNK = 1000

const SCHEMA = `
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    checksum INTEGER NOT NULL
  );
  CREATE TABLE window (id INTEGER PRIMARY KEY CHECK (id = 1), oldest INTEGER NOT NULL, checksum INTEGER NOT NULL);
`

/**
 * The log in a SQLite file: one row for each revision that is still needed. The rows up to `oldest` are the state at
 * that revision, one per object; the rows after it are history without gaps. So the log is its own compacted form, and
 * a write appends one row to one table.
 *
 * SQLite detects a broken structure, not a flipped bit in a value: each row has a checksum for that.
 */
export class SqliteFile {
  readonly #options: WorkerOptions
  readonly #mark: HighWaterMark
  #database: DatabaseSync
  #insert: StatementSync
  #delete: StatementSync
  #setOldest: StatementSync

  private constructor(options: WorkerOptions, database: DatabaseSync, mark: HighWaterMark) {
    this.#options = options
    this.#mark = mark
    this.#database = database
    const statements = prepare(database)
    this.#insert = statements.insert
    this.#delete = statements.delete
    this.#setOldest = statements.setOldest
  }

  /** Opens and verifies the whole file; makes it if it is missing. */
  static open(options: WorkerOptions): SqliteFile {
    const { file } = options
    const isThere = existsSync(file)
    if (!isThere && existsSync(`${file}-wal`))
      throw damaged(file, 'the file is missing, but its write-ahead log exists')
    const acknowledged = HighWaterMark.read(file)
    if (acknowledged === 'unreadable') throw damaged(file, `its mark ${markFileOf(file)} is unreadable`)
    if (!isThere && acknowledged !== undefined) throw behind(file, undefined, acknowledged)
    if (!isThere) createFile(file)
    // A new file is made completely under another name, so a file of Tenure is never empty.
    if (statSync(file).size === 0) throw damaged(file, 'it is empty')
    if (lostTransactions(`${file}-wal`)) {
      refuseIfInUse(file)
      throw damaged(file, 'its write-ahead log has a broken record among whole ones')
    }
    if (acknowledged !== undefined) refuseIfBehind(file, acknowledged)
    const database = connect(options)
    try {
      checkWhole(file, database)
      const newest = newestOf(database)
      if (acknowledged !== undefined && newest < acknowledged) throw behind(file, newest, acknowledged)
      return new SqliteFile(options, database, HighWaterMark.open(file, newest))
    } catch (error) {
      database.close()
      throw error
    }
  }

  oldest(): number {
    const row = this.#database.prepare('SELECT oldest, checksum FROM window').get()
    const oldest = row?.oldest
    if (typeof oldest !== 'number' || row?.checksum !== crc32(`oldest ${oldest}`)) {
      throw damaged(this.#options.file, 'the start of its history is unreadable')
    }
    return oldest
  }

  /** All rows in order of revisions, verified. */
  *rows(oldest: number): Generator<FlatRows, void, undefined> {
    const { file } = this.#options
    const select = this.#database.prepare('SELECT revision, resource, key, value, checksum FROM log ORDER BY revision')
    select.setReturnArrays(true)
    let chunk: FlatRows = []
    let before = 0
    for (const row of select.iterate() as unknown as Iterable<
      readonly [number, string, string, string | null, number]
    >) {
      const [revision, resource, key, value, checksum] = row
      if (checksum !== checksumOf(revision, resource, key, value)) {
        throw damaged(file, `revision ${revision} does not match its checksum`)
      }
      if (revision > oldest && revision !== Math.max(before, oldest) + 1) {
        throw damaged(file, `revisions are missing before ${revision}`)
      }
      before = revision
      chunk.push(revision, resource, key, value)
      if (chunk.length < ROWS_PER_CHUNK * 4) continue
      yield chunk
      chunk = []
    }
    if (chunk.length > 0) yield chunk
  }

  /** Writes rows and drops superseded ones in one durable transaction. */
  commit(rows: FlatRows, oldest: number | undefined, superseded: readonly number[]): void {
    this.#database.exec('BEGIN IMMEDIATE')
    // Deleting first frees space for the new rows.
    for (const revision of superseded) this.#delete.run(revision)
    for (let at = 0; at < rows.length; at += 4) {
      const revision = rows[at] as number
      const resource = rows[at + 1] as string
      const key = rows[at + 2] as string
      const value = rows[at + 3] as string | null
      this.#insert.run(revision, resource, key, value, checksumOf(revision, resource, key, value))
    }
    if (oldest !== undefined) this.#setOldest.run(oldest, crc32(`oldest ${oldest}`))
    this.#database.exec('COMMIT')
    if (rows.length > 0) this.#mark.raise(rows.at(-4) as number)
  }

  /**
   * Reopens the file after a failed commit and removes rows after `durable` that the failed commit may have left: their
   * writers received an error.
   */
  recover(durable: number): void {
    closeQuietly(this.#database)
    this.#database = connect(this.#options)
    const statements = prepare(this.#database)
    this.#insert = statements.insert
    this.#delete = statements.delete
    this.#setOldest = statements.setOldest
    const { count } = this.#database.prepare('SELECT count(*) AS count FROM log WHERE revision > ?').get(durable) ?? {}
    // The mark first: a mark above the newest row would refuse the file.
    this.#mark.reset(durable)
    if (count !== 0) this.#database.prepare('DELETE FROM log WHERE revision > ?').run(durable)
  }

  close(): void {
    closeQuietly(this.#database)
    this.#mark.close()
  }
}

function checksumOf(revision: number, resource: string, key: string, value: string | null): number {
  const head = crc32(`${value === null ? 'delete' : 'put'} ${revision} ${resource} ${key} `)
  return value === null ? head : crc32(value, head)
}

function connect({ file, maxBytes }: WorkerOptions): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // A single process needs no shared memory.
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('PRAGMA synchronous = FULL')
    database.exec('PRAGMA journal_mode = WAL')
    // A checkpoint at every 16 MB: a page that changes often in between is written once.
    database.exec('PRAGMA wal_autocheckpoint = 2000')
    database.exec('PRAGMA journal_size_limit = 67108864')
    if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_SIZE)}`)
    // Locks the file now, so that a second process is refused when it opens the file and not when it writes.
    database.exec('BEGIN IMMEDIATE; COMMIT')
    return database
  } catch (error) {
    closeQuietly(database)
    throw error
  }
}

// This connection cannot change anything: closing a writing one would remove what is left of the write-ahead log.
function refuseIfBehind(file: string, acknowledged: number): void {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  let newest: number
  try {
    newest = newestOf(database)
  } catch {
    // It is in use or damaged, which the connection that follows reports.
    return
  } finally {
    database.close()
  }
  if (newest < acknowledged) throw behind(file, newest, acknowledged)
}

/** The newest revision. All rows may be gone, if the state at that revision is empty. */
function newestOf(database: DatabaseSync): number {
  const row = database.prepare('SELECT max(oldest, coalesce((SELECT max(revision) FROM log), 0)) AS newest FROM window')
  return Number(row.get()?.newest)
}

// A log that another process is writing may look broken. This connection cannot change anything.
function refuseIfInUse(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  try {
    database.prepare('SELECT 1 FROM sqlite_schema').get()
  } catch (error) {
    const failure = openErrorFor(file, error)
    if (failure.code === 'TENURE_STORAGE_IN_USE') throw failure
  } finally {
    database.close()
  }
}

function prepare(database: DatabaseSync): { insert: StatementSync; delete: StatementSync; setOldest: StatementSync } {
  return {
    insert: database.prepare('INSERT INTO log (revision, resource, key, value, checksum) VALUES (?, ?, ?, ?, ?)'),
    delete: database.prepare('DELETE FROM log WHERE revision = ?'),
    setOldest: database.prepare('UPDATE window SET oldest = ?, checksum = ?'),
  }
}

function checkWhole(file: string, database: DatabaseSync): void {
  const application = database.prepare('PRAGMA application_id').get()?.application_id
  if (application !== APPLICATION_ID) throw damaged(file, 'it is not a file of Tenure')
  const format = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (format > FORMAT) {
    throw new OpenError(
      'TENURE_STORAGE_NEWER',
      `The storage in ${file} was written by a newer Tenure (format ${format}, this version supports ${FORMAT}). Use that version.`,
    )
  }
  const verdict = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
  if (verdict !== 'ok')
    throw damaged(
      file,
      String(verdict)
        .replaceAll(/\*{3}[^*]*\*{3}|\s+/g, ' ')
        .trim(),
    )
}

// Made under another name and then renamed: a crash leaves a complete file or none.
function createFile(file: string): void {
  const draft = `${file}.new`
  for (const leftover of [draft, `${draft}-wal`, `${draft}-journal`]) rmSync(leftover, { force: true })
  // SQLite would make it readable for others, Secrets included; the log inherits the mode of the file.
  closeSync(openSync(draft, 'w', PRIVATE_FILE))
  const database = new DatabaseSync(draft)
  try {
    database.exec(
      `PRAGMA page_size = ${PAGE_SIZE}; PRAGMA synchronous = FULL; PRAGMA application_id = ${APPLICATION_ID}`,
    )
    database.exec(`PRAGMA user_version = ${FORMAT}; BEGIN; ${SCHEMA}`)
    database.prepare('INSERT INTO window VALUES (1, ?, ?)').run(1, crc32('oldest 1'))
    database.exec('COMMIT')
  } finally {
    database.close()
  }
  renameSync(draft, file)
  syncDirectory(path.dirname(file))
}

function closeQuietly(database: DatabaseSync): void {
  try {
    database.close()
  } catch {
    // The file is abandoned in any case; the failure that led here is the one to report.
  }
}
