import { TenureError } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { AUDITED_TABLE } from '../api/names.ts'
import type { ResourceRow } from '../api/rows.ts'
import { engineOf } from '../engines/table.ts'
import type { Database, SqlExecutor } from '../postgres/database.ts'
import { type RawResource, resourceQuery } from '../postgres/resource-query.ts'
import { resourceRow } from '../postgres/resource-row.ts'
import { currentTime, type DatabaseSchema, hasColumn, readSchema, type TableName } from '../postgres/schema.ts'
import { quoteIdentifier, storableJson } from '../postgres/sql-text.ts'
import { dbArgumentError } from './argument-error.ts'

/** Key of the advisory lock: the letters "dbcreate". Two commands must not create one team or one name twice. */
const CREATE_LOCK_KEY = '7233453294488745061'
const POSSIBLE_ID = /^\d{1,18}$/
/** Columns that the first start of the operator adds. */
const ADDED_COLUMNS = ['generation', 'observed_generation', 'change_xid'] as const

export interface NewResource {
  readonly name: string
  readonly type: string
  readonly team: string
  readonly config: JsonObject
}

export interface JobRecord {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly logs: string
  readonly error: string | null
  /** Milliseconds since 1970. */
  readonly startedAt: number | null
  readonly completedAt: number | null
}

export interface AuditRecord {
  readonly id: string
  readonly action: string
  readonly details: unknown
  /** Milliseconds since 1970. */
  readonly timestamp: number | null
}

/** The columns that a user changes; an undefined one stays. */
export interface DesiredChange {
  readonly config?: JsonObject
  readonly status?: 'paused' | 'active'
  readonly isDeleted?: true
}

/** The platform's tables, written as the platform would: the operator sees these writes as another program's. */
export class PlatformRows {
  readonly #database: Database
  readonly #schema: DatabaseSchema
  readonly #select: string

  private constructor(database: Database, schema: DatabaseSchema) {
    this.#database = database
    this.#schema = schema
    this.#select = resourceQuery(schema)
  }

  static async open(database: Database): Promise<PlatformRows> {
    const schema = await readSchema(database)
    if (ADDED_COLUMNS.some((column) => !hasColumn(schema, 'resources', column)))
      throw new TenureError(
        'TENURE_DATABASE_SCHEMA',
        'The tables of this database are not ready. Start the operator on it once: npm start, or tenure databases.',
      )
    return new PlatformRows(database, schema)
  }

  /** All rows by team and name. Without `isAll` those that are deleted are left out. */
  list({
    isAll,
    team,
  }: {
    readonly isAll: boolean
    readonly team: string | undefined
  }): Promise<readonly ResourceRow[]> {
    return this.#read(
      `WHERE ($1::boolean OR r.deleted_at IS NULL) AND ($2::text IS NULL OR tm.name = $2) ORDER BY tm.name, r.name, r.id`,
      [isAll, team ?? null],
    )
  }

  /** Undefined if there is none, also for a text that no row can have as its id. */
  async byId(id: string): Promise<ResourceRow | undefined> {
    if (!POSSIBLE_ID.test(id)) return undefined
    // The column may be an integer, which has fewer digits.
    return (await this.#read('WHERE r.id = $1::bigint', [id]))[0]
  }

  /** The row of a name, or of an id. Throws unless there is exactly one; deleted rows count only if there is no other. */
  async find(operand: string, team: string | undefined, from: 'live' | 'all' = 'live'): Promise<ResourceRow> {
    const named = await this.#read('WHERE r.name = $1 AND ($2::text IS NULL OR tm.name = $2) ORDER BY r.id', [
      operand,
      team ?? null,
    ])
    const live = named.filter(({ deletedAt }) => deletedAt === undefined)
    if (live.length > 1) throw ambiguous(operand, live)
    const found = live[0] ?? (from === 'all' ? named.at(-1) : undefined)
    if (found) return found
    const byId = await this.byId(operand)
    if (byId && (from === 'all' || byId.deletedAt === undefined)) return byId
    const where = team === undefined ? '' : ` in the team ${team}`
    throw new TenureError(
      'TENURE_DATABASE_UNKNOWN',
      named.length > 0
        ? `The database ${operand}${where} is deleted.`
        : `There is no database ${operand}${where}. See tenure db list.`,
    )
  }

  /** Inserts a row, and its team if there is none of that name. */
  create(resource: NewResource): Promise<ResourceRow> {
    return this.#database.transaction(async (transaction) => {
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [CREATE_LOCK_KEY])
      const type = await this.#typeId(transaction, resource.type)
      const team =
        (await this.#teamId(transaction, resource.team)) ?? (await this.#createTeam(transaction, resource.team))
      const taken = await transaction.query(
        'SELECT 1 FROM resources WHERE name = $1 AND team_id = $2 AND deleted_at IS NULL',
        [resource.name, team],
      )
      if (taken.count > 0)
        throw new TenureError(
          'TENURE_DATABASE_EXISTS',
          `The team ${resource.team} has a database ${resource.name} already. Change it with tenure db set, or choose another name.`,
        )
      const id = await this.#insert(transaction, 'resources', {
        name: resource.name,
        resource_type_id: type,
        team_id: team,
        status: 'pending',
        // The default of an older table may be another one.
        lifecycle_mode: 'full',
        connection_info: '{}',
        credentials: '{}',
        config: storableJson(resource.config),
      })
      return await this.#one(transaction, id)
    })
  }

  /**
   * Changes a row while it is locked, so that a concurrent edit of the platform is not lost. `change` returns undefined
   * if the row is already as it should be. Returns the row afterwards.
   */
  update(id: string, change: (row: ResourceRow) => DesiredChange | undefined): Promise<ResourceRow> {
    return this.#database.transaction(async (transaction) => {
      await transaction.query('SELECT 1 FROM resources WHERE id = $1 FOR UPDATE', [id])
      const row = await this.#one(transaction, id)
      const desired = change(row)
      if (!desired) return row
      const now = (column: string): string => currentTime(this.#schema, 'resources', column)
      const values: unknown[] = [id]
      const assigned = [
        ...(desired.config ? [`config = $${values.push(storableJson(desired.config))}`] : []),
        ...(desired.status ? [`status = $${values.push(desired.status)}`] : []),
        ...(desired.isDeleted ? [`deleted_at = ${now('deleted_at')}`] : []),
        ...(hasColumn(this.#schema, 'resources', 'updated_at') ? [`updated_at = ${now('updated_at')}`] : []),
      ]
      await transaction.query(`UPDATE resources SET ${assigned.join(', ')} WHERE id = $1`, values)
      return await this.#one(transaction, id)
    })
  }

  /** The newest jobs first. */
  async jobs(id: string, limit: number): Promise<readonly JobRecord[]> {
    const { rows } = await this.#database.query<JobRecord>(
      `SELECT id::text AS id, job_type::text AS type, status::text AS status, coalesce(logs, '') AS logs,
              error_message AS error, ${milliseconds('started_at')} AS "startedAt",
              ${milliseconds('completed_at')} AS "completedAt"
       FROM provisioning_jobs WHERE resource_id = $1 ORDER BY provisioning_jobs.id DESC LIMIT $2`,
      [id, limit],
    )
    return rows
  }

  /** The newest rows first. */
  async audit(id: string, limit: number): Promise<readonly AuditRecord[]> {
    const { rows } = await this.#database.query<AuditRecord>(
      `SELECT id::text AS id, action, details, ${milliseconds('"timestamp"')} AS timestamp
       FROM audit_logs WHERE resource_type = $1 AND resource_id = $2 ORDER BY audit_logs.id DESC LIMIT $3`,
      [AUDITED_TABLE, id, limit],
    )
    return rows
  }

  async #read(where: string, values: readonly unknown[], executor: SqlExecutor = this.#database) {
    return (await executor.query<RawResource>(`${this.#select} ${where}`, values)).rows.map(resourceRow)
  }

  async #one(executor: SqlExecutor, id: string): Promise<ResourceRow> {
    const [row] = await this.#read('WHERE r.id = $1', [id], executor)
    if (row) return row
    throw new TenureError('TENURE_DATABASE_UNKNOWN', `The row ${id} was removed meanwhile. See tenure db list.`)
  }

  /** The platform may call a type `postgresql` or `db-postgresql`. */
  async #typeId(transaction: SqlExecutor, type: string): Promise<string> {
    const { rows } = await transaction.query<{ id: string; name: string }>(
      'SELECT id::text AS id, name::text AS name FROM resource_types ORDER BY resource_types.id',
    )
    const engine = engineOf(type)
    const found = rows.find(({ name }) => name === type) ?? rows.find(({ name }) => engine && engineOf(name) === engine)
    if (found) return found.id
    const names = rows.filter(({ name }) => engineOf(name)).map(({ name }) => name)
    throw dbArgumentError(
      `The type ${type} is not in the table resource_types: ${names.length > 0 ? `use ${names.join(', ')}` : 'it has no type that can be run'}.`,
    )
  }

  async #teamId(transaction: SqlExecutor, name: string): Promise<string | undefined> {
    const isLive = hasColumn(this.#schema, 'teams', 'deleted_at') ? ' AND deleted_at IS NULL' : ''
    const { rows } = await transaction.query<{ id: string }>(
      `SELECT id::text AS id FROM teams WHERE name = $1${isLive} ORDER BY teams.id LIMIT 1`,
      [name],
    )
    return rows[0]?.id
  }

  #createTeam(transaction: SqlExecutor, name: string): Promise<string> {
    return this.#insert(transaction, 'teams', { name })
  }

  /** Sets the times of a row too: a platform may set them in its own code. */
  async #insert(
    transaction: SqlExecutor,
    table: TableName,
    columns: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const names = Object.keys(columns)
    const times = ['created_at', 'updated_at'].filter((column) => hasColumn(this.#schema, table, column))
    const { rows } = await transaction.query<{ id: string }>(
      `INSERT INTO ${table} (${[...names, ...times].map(quoteIdentifier).join(', ')})
       VALUES (${[...names.map((_, index) => `$${index + 1}`), ...times.map((column) => currentTime(this.#schema, table, column))].join(', ')})
       RETURNING id::text AS id`,
      Object.values(columns),
    )
    return rows[0]?.id ?? ''
  }
}

/** A column without a time zone holds UTC, which is how PostgreSQL takes it here. */
const milliseconds = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`

function ambiguous(name: string, rows: readonly ResourceRow[]): TenureError {
  const teams = rows.map(({ id, teamName }) => `${teamName ?? 'no team'} (id ${id})`).join(', ')
  return new TenureError(
    'TENURE_DATABASE_AMBIGUOUS',
    `Several databases have the name ${name}: ${teams}. Name one with --team, or by its id.`,
  )
}
