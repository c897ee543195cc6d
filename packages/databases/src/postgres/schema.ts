import type { SqlExecutor } from './database.ts'

export const TABLES = ['teams', 'resource_types', 'resources', 'provisioning_jobs', 'audit_logs'] as const
export type TableName = (typeof TABLES)[number]

export interface ColumnInfo {
  /** As PostgreSQL prints it: `bigint`, `timestamp with time zone`, `jsonb`, or the name of an enum. */
  readonly type: string
  /** NOT NULL and without a default: an INSERT must set it. */
  readonly isRequired: boolean
  /** Characters that a `varchar(n)` takes; null: no limit. */
  readonly maxLength: number | null
}

/** The columns that the tables of the platform really have. It decides how rows are read and written. */
export interface DatabaseSchema {
  /** The schema that the tables are in, or will be. */
  readonly namespace: string
  readonly tables: Readonly<Record<TableName, ReadonlyMap<string, ColumnInfo> | undefined>>
  /** Triggers of `resources` and indexes, by name. */
  readonly objects: ReadonlySet<string>
}

interface ColumnRow {
  readonly namespace: string | null
  readonly table: TableName
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly maxLength: number | null
}

// to_regclass follows the search path, like the statements that use the tables.
const COLUMNS = `
SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, NULL) AS type,
       a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS "isRequired",
       CASE WHEN a.atttypid = 'varchar'::regtype AND a.atttypmod > 4 THEN a.atttypmod - 4 END AS "maxLength",
       n.nspname AS namespace
FROM unnest($1::text[]) AS wanted(name)
JOIN pg_class c ON c.oid = to_regclass(quote_ident(wanted.name))
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`

const OBJECTS = `
SELECT current_schema() AS namespace,
       array(SELECT t.tgname::text FROM pg_trigger t WHERE t.tgrelid = to_regclass('resources') AND NOT t.tgisinternal)
       || array(SELECT i.indexrelid::regclass::text FROM pg_index i
                WHERE i.indrelid IN (to_regclass('resources'), to_regclass('provisioning_jobs')) AND i.indisvalid)
       AS objects`

export async function readSchema(database: SqlExecutor): Promise<DatabaseSchema> {
  const columns = await database.query<ColumnRow>(COLUMNS, [TABLES])
  const { rows } = await database.query<{ namespace: string | null; objects: readonly string[] }>(OBJECTS)
  const tables = Map.groupBy(columns.rows, ({ table }) => table)
  const columnsOf = (table: TableName): ReadonlyMap<string, ColumnInfo> | undefined => {
    const found = tables.get(table)
    return (
      found && new Map(found.map(({ name, type, isRequired, maxLength }) => [name, { type, isRequired, maxLength }]))
    )
  }
  const resources = columns.rows.find(({ table }) => table === 'resources')
  return {
    namespace: resources?.namespace ?? rows[0]?.namespace ?? 'public',
    tables: {
      teams: columnsOf('teams'),
      resource_types: columnsOf('resource_types'),
      resources: columnsOf('resources'),
      provisioning_jobs: columnsOf('provisioning_jobs'),
      audit_logs: columnsOf('audit_logs'),
    },
    // An index outside the search path is printed with its schema.
    objects: new Set(rows[0]?.objects.map((name) => name.slice(name.lastIndexOf('.') + 1)) ?? []),
  }
}

export function hasColumn(schema: DatabaseSchema, table: TableName, column: string): boolean {
  return schema.tables[table]?.has(column) ?? false
}

export function columnType(schema: DatabaseSchema, table: TableName, column: string): string | undefined {
  return schema.tables[table]?.get(column)?.type
}

/** The SQL of the current time for a column; a column without a time zone holds UTC. */
export function currentTime(schema: DatabaseSchema, table: TableName, column: string): string {
  return columnType(schema, table, column)?.includes('without time zone') ? `now() AT TIME ZONE 'UTC'` : 'now()'
}
