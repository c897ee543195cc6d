import { TenureError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { Database, SqlExecutor } from '../database.ts'
import { type DatabaseSchema, hasColumn, readSchema, type TableName, TABLES } from '../schema.ts'
import { quoteIdentifier } from '../sql-text.ts'
import { seedStatements } from './seed.ts'
import { TABLE_DEFINITIONS } from './tables.ts'
import { CHANGE_TRIGGERS, TRIGGER_VERSION, triggerStatements } from './triggers.ts'

/** Key of the advisory lock: the letters "tenuredb". Replicas that start together migrate one after the other. */
const LOCK_KEY = '8387231331756893282'
/** An index of a long history of jobs takes a while. */
const MIGRATION_TIMEOUT_MS = 600_000
export const LIVE_JOB_INDEX = 'tenure_one_live_job'
const JOB_INDEX = 'tenure_jobs_by_resource'
const CHANGE_INDEX = 'tenure_resources_by_change'

interface Migration {
  /** Recorded in the table of applied migrations. */
  readonly name: string
  /** The statements that are still needed. Empty: nothing is missing. */
  readonly missing: (schema: DatabaseSchema) => readonly string[]
}

/**
 * Every migration compares the database with what it must contain, and only adds. So each can run again at any time, on
 * an empty database, on the platform's and on an older backup.
 */
const MIGRATIONS: readonly Migration[] = [
  { name: 'tables', missing: missingTables },
  { name: 'columns', missing: missingColumns },
  { name: 'indexes', missing: missingIndexes },
]

const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS tenure_migrations (
  name text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  PRIMARY KEY (name, version))`

/**
 * Brings the database up to date and returns its schema. If nothing is missing, it reads only and takes no lock. All
 * changes are one transaction.
 */
export async function migrate(database: Database, log: Logger): Promise<DatabaseSchema> {
  const found = await readSchema(database)
  const foreign = TABLES.find((table) => found.tables[table] !== undefined && !hasColumn(found, table, 'id'))
  if (foreign !== undefined) throw withoutId(foreign)
  if (isComplete(found) && (await hasTriggers(database, found))) return found
  return database.transaction(
    async (transaction) => {
      // A lock of the transaction, not of the session: a pooler may give the next statement to another session.
      await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [LOCK_KEY])
      const applied = await applyAll(transaction)
      if (applied.length > 0) log.info('database migrated', { migrations: applied })
      return readSchema(transaction)
    },
    { timeout: MIGRATION_TIMEOUT_MS },
  )
}

/** The migrations that the next start of the operator applies. Reads only. */
export async function missingMigrations(database: SqlExecutor): Promise<readonly string[]> {
  const schema = await readSchema(database)
  const names = MIGRATIONS.filter(({ missing }) => missing(schema).length > 0).map(({ name }) => name)
  return (await hasTriggers(database, schema)) ? names : [...names, 'triggers']
}

async function applyAll(transaction: SqlExecutor): Promise<readonly string[]> {
  const applied: string[] = []
  await transaction.query(CREATE_HISTORY)
  for (const { name, missing } of MIGRATIONS) {
    const statements = missing(await readSchema(transaction))
    for (const statement of statements) await transaction.query(statement)
    if (statements.length > 0) applied.push(await record(transaction, name))
  }
  const schema = await readSchema(transaction)
  if (!(await hasTriggers(transaction, schema))) {
    for (const statement of triggerStatements(schema)) await transaction.query(statement)
    applied.push(await record(transaction, 'triggers', TRIGGER_VERSION))
  }
  const { rows } = await transaction.query('SELECT 1 FROM resource_types LIMIT 1')
  if (rows.length === 0) {
    const seeds = seedStatements(schema)
    for (const { text, values } of seeds) await transaction.query(text, values)
    if (seeds.length > 0) applied.push(await record(transaction, 'resource types'))
  }
  return applied
}

async function record(transaction: SqlExecutor, name: string, version = 1): Promise<string> {
  await transaction.query(
    `INSERT INTO tenure_migrations (name, version) VALUES ($1, $2)
     ON CONFLICT (name, version) DO UPDATE SET applied_at = now()`,
    [name, version],
  )
  return name
}

function isComplete(schema: DatabaseSchema): boolean {
  return MIGRATIONS.every(({ missing }) => missing(schema).length === 0)
}

async function hasTriggers(database: SqlExecutor, schema: DatabaseSchema): Promise<boolean> {
  if (!Object.values(CHANGE_TRIGGERS).every((name) => schema.objects.has(name))) return false
  const { rows } = await database.query<{ exists: boolean }>(
    `SELECT to_regclass('tenure_migrations') IS NOT NULL AS exists`,
  )
  if (!rows[0]?.exists) return false
  const applied = await database.query(`SELECT 1 FROM tenure_migrations WHERE name = 'triggers' AND version >= $1`, [
    TRIGGER_VERSION,
  ])
  return applied.count > 0
}

function missingTables(schema: DatabaseSchema): readonly string[] {
  return TABLES.filter((table) => schema.tables[table] === undefined).map((table) => {
    const columns = TABLE_DEFINITIONS[table].map(({ name, definition }) => {
      const referenced = /^bigint.* REFERENCES (\w+)/.exec(definition)?.[1] as TableName | undefined
      const type = referenced && schema.tables[referenced]?.get('id')?.type
      return `${quoteIdentifier(name)} ${type === undefined ? definition : definition.replace('bigint', type)}`
    })
    return `CREATE TABLE ${quoteIdentifier(table)} (${columns.join(', ')})`
  })
}

function missingColumns(schema: DatabaseSchema): readonly string[] {
  return TABLES.flatMap((table) => {
    if (schema.tables[table] === undefined) return []
    const missing = TABLE_DEFINITIONS[table].filter(({ isNeeded, name }) => isNeeded && !hasColumn(schema, table, name))
    if (missing.length === 0) return []
    const added = missing.map(
      ({ added, definition, name }) => `ADD COLUMN ${quoteIdentifier(name)} ${added ?? definition}`,
    )
    return [`ALTER TABLE ${quoteIdentifier(table)} ${added.join(', ')}`]
  })
}

function missingIndexes({ objects }: DatabaseSchema): readonly string[] {
  const statements: string[] = []
  if (!objects.has(LIVE_JOB_INDEX)) {
    statements.push(
      // Of several live jobs of one resource in an older table, the newest stays; the rows of the others are kept too.
      `UPDATE provisioning_jobs AS old SET status = 'failed', completed_at = coalesce(old.completed_at, now()),
         error_message = 'Superseded by a newer job of the same resource'
       WHERE old.status::text IN ('pending', 'running') AND EXISTS (
         SELECT 1 FROM provisioning_jobs newer WHERE newer.resource_id = old.resource_id AND newer.id > old.id
           AND newer.status::text IN ('pending', 'running'))`,
      `CREATE UNIQUE INDEX ${LIVE_JOB_INDEX} ON provisioning_jobs (resource_id) WHERE status IN ('pending', 'running')`,
    )
  }
  if (!objects.has(JOB_INDEX)) statements.push(`CREATE INDEX ${JOB_INDEX} ON provisioning_jobs (resource_id, id)`)
  if (!objects.has(CHANGE_INDEX)) statements.push(`CREATE INDEX ${CHANGE_INDEX} ON resources (change_xid)`)
  return statements
}

function withoutId(table: TableName): TenureError {
  return new TenureError(
    'TENURE_DB_SCHEMA',
    `The table "${table}" has no column "id"; it is not a table of the platform. Set DB_NAME to the platform's database`,
  )
}
