import { silentLogger } from '@tenure/runtime'
import { databasesConfig } from '../config.ts'
import { isDeletionFinished } from '../controllers/database/row-table.ts'
import { databaseRow } from '../http/views/database-row.ts'
import type { DatabaseRow } from '../http/views/databases-view.ts'
import { PlatformRows } from '../platform/rows.ts'
import { connectDatabase } from '../postgres/connection.ts'
import { missingMigrations } from '../postgres/migrations/migrate.ts'
import { findAddress } from './address.ts'
import type { DbCliContext, DbCliOptions } from './context.ts'

/** The rows of a PostgreSQL server, as the views show them. */
export interface DatabaseReader {
  /** Where its address was found. It has no password. */
  readonly source: string
  /** All rows, except those whose deletion is finished. */
  list(): Promise<readonly DatabaseRow[]>
  serverVersion(): Promise<string>
  /** The migrations that the next start of the operator applies. */
  missingMigrations(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Finds the server as `tenure db` does. Nothing is sent before the first read. */
export async function openDatabaseReader(
  context: DbCliContext,
  options: Pick<DbCliOptions, 'databaseUrl'>,
): Promise<DatabaseReader> {
  const { address, source } = await findAddress(context, options)
  const { clock, random } = context
  const database = connectDatabase({
    address,
    clock,
    random,
    log: silentLogger,
    applicationName: 'tenure',
    maxConnections: 1,
  })
  let opened: PlatformRows | undefined
  return {
    source,
    async list() {
      opened ??= await PlatformRows.open(database)
      const rows = await opened.list({ isAll: true, team: undefined })
      return rows
        .filter((row) => !isDeletionFinished(row))
        .map((row) => databaseRow(row, databasesConfig.namespacePrefix.default))
    },
    async serverVersion() {
      const { rows } = await database.query<{ version: string }>(`SELECT current_setting('server_version') AS version`)
      return rows[0]?.version ?? ''
    },
    missingMigrations: () => missingMigrations(database),
    close: () => database.close(),
  }
}
