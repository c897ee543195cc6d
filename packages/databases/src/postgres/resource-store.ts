import { TenureError } from '@tenure/kube'
import { isDeepEqual, type JsonObject, ownValue } from '@tenure/kube/model'
import type { Logger } from '@tenure/runtime'
import type { JobChange, ResourceReport, ResourceRow } from '../api/rows.ts'
import { type ChangeCursor, cursorAfter, readSnapshot, type Snapshot, unseenRows } from './change-cursor.ts'
import type { Database, SqlExecutor } from './database.ts'
import { writeJob } from './job-writes.ts'
import { migrate } from './migrations/migrate.ts'
import { CHANGE_CHANNEL, POLLING_UNTIL } from './migrations/triggers.ts'
import { reportStatement } from './report-statement.ts'
import { type RawResource, resourceQuery } from './resource-query.ts'
import { resourceRow } from './resource-row.ts'
import type { DatabaseSchema } from './schema.ts'

/** A reader that renews its announcement later than this before its end wakes the others: they may sleep already. */
const RENEWAL_MARGIN_MS = 50

export interface ResourceRead {
  readonly rows: readonly ResourceRow[]
  /** Where the next `readChanged` continues. */
  readonly cursor: ChangeCursor
  readonly snapshot: Snapshot
}

/** Rows whose deletion is finished stay in the table and need no more work. */
const IS_UNFINISHED = `NOT (r.deleted_at IS NOT NULL AND r.status::text = 'deleted'
  AND r.observed_generation IS NOT DISTINCT FROM r.generation AND j.id IS NULL)`

/** The tables of the platform, as this operator reads and writes them. */
export class ResourceStore {
  readonly #database: Database
  readonly #log: Logger
  #prepared: { readonly schema: DatabaseSchema; readonly select: string } | undefined

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  /** Migrates the database and looks at its columns. Call it after every connect: the server may be a restored copy. */
  async prepare(): Promise<void> {
    const schema = await migrate(this.#database, this.#log)
    this.#prepared = { schema, select: resourceQuery(schema) }
  }

  /** All rows except those whose deletion is finished, in two queries. */
  async readAll(): Promise<ResourceRead> {
    const { select } = this.#ready()
    // The snapshot is older than the rows: a change in between is read twice, never missed.
    const snapshot = await readSnapshot(this.#database)
    const { rows } = await this.#database.query<RawResource>(`${select} WHERE ${IS_UNFINISHED}`)
    return { rows: rows.map(resourceRow), cursor: cursorAfter(snapshot, rows), snapshot }
  }

  /** The rows whose desired state changed since the cursor, in any order of commits. This operator's writes are not among them. */
  async readChanged(cursor: ChangeCursor): Promise<ResourceRead> {
    const { select } = this.#ready()
    const snapshot = await readSnapshot(this.#database)
    // Ids beyond those that the server has given out come from another server's backup.
    const { rows } = await this.#database.query<RawResource>(
      `${select} WHERE r.change_xid >= $1 AND r.change_xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint`,
      [cursor.xmin],
    )
    return { rows: unseenRows(cursor, rows).map(resourceRow), cursor: cursorAfter(snapshot, rows), snapshot }
  }

  /** One row, also one whose deletion is finished; undefined if it does not exist. */
  readOne(id: string): Promise<ResourceRow | undefined> {
    return this.#readOne(this.#database, id)
  }

  /**
   * Writes the operator's columns, a change of the job and its audit row, all or nothing. `stale`: the platform changed
   * desired state, or another controller changed the job; read the row again. Nothing is written if nothing differs.
   * `updated_at` is set whenever a column is written, for platforms that watch it.
   */
  async report(
    row: ResourceRow,
    report: ResourceReport,
    job?: JobChange,
  ): Promise<{ readonly row: ResourceRow } | 'stale'> {
    if (job === undefined && !differs(row, report)) return { row }
    const { schema } = this.#ready()
    try {
      return await this.#database.transaction(
        async (transaction) => {
          const seen = await transaction.query<{ generation: string }>(
            'SELECT generation::text AS generation FROM resources WHERE id = $1 FOR NO KEY UPDATE',
            [row.id],
          )
          if (seen.rows[0]?.generation !== row.generation) throw new StaleRow()
          const statement = reportStatement(schema, row.id, report)
          if (statement) await transaction.query(statement.text, statement.values)
          if (job && !(await writeJob({ transaction, schema, row }, job))) throw new StaleRow()
          const written = await this.#readOne(transaction, row.id)
          if (written === undefined) throw new StaleRow()
          return { row: written }
        },
        { writer: 'controller' },
      )
    } catch (error) {
      if (error instanceof StaleRow) return 'stale'
      throw error
    }
  }

  /** Tells writers that this process reads changes for so long without being notified. */
  async announcePolling(milliseconds: number): Promise<void> {
    const { schema } = this.#ready()
    const now = 'extract(epoch FROM clock_timestamp()) * 1000'
    const sequence = `"${schema.namespace.replaceAll('"', '""')}".${POLLING_UNTIL}`
    // An announcement that a crash loses is harmless, so its commit need not wait for the disk.
    await this.#database.query(
      `WITH earlier AS MATERIALIZED (SELECT last_value AS until FROM ${sequence})
       SELECT set_config('synchronous_commit', 'off', true), setval($1::regclass, (${now})::bigint + $2::bigint),
              CASE WHEN earlier.until < ${now} + ${RENEWAL_MARGIN_MS} THEN pg_notify($3, '') END
       FROM earlier`,
      [sequence, milliseconds, CHANGE_CHANNEL],
    )
  }

  async #readOne(executor: SqlExecutor, id: string): Promise<ResourceRow | undefined> {
    const { rows } = await executor.query<RawResource>(`${this.#ready().select} WHERE r.id = $1`, [id])
    return rows[0] && resourceRow(rows[0])
  }

  #ready(): { readonly schema: DatabaseSchema; readonly select: string } {
    if (this.#prepared) return this.#prepared
    throw new TenureError('TENURE_DB_NOT_READY', 'The database is not migrated yet; wait for the first read', {
      fate: 'retry',
    })
  }
}

class StaleRow extends Error {}

/** Whether the row that the caller knows lacks something of the report. */
function differs(row: ResourceRow, report: ResourceReport): boolean {
  const { connectionInfo = {}, credentials = {}, resourceType: _, ...scalars } = report
  return (
    Object.entries(scalars).some(([key, value]) => value !== undefined && row[key as keyof ResourceRow] !== value) ||
    lacks(row.connectionInfo, connectionInfo) ||
    lacks(row.credentials, credentials)
  )
}

function lacks(document: JsonObject, wanted: JsonObject): boolean {
  return Object.entries(wanted).some(([key, value]) => !isDeepEqual(ownValue(document, key), value))
}
