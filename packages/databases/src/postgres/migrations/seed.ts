import type { DatabaseSchema } from '../schema.ts'
import { quoteIdentifier } from '../sql-text.ts'

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

const TYPES = [
  { name: 'postgresql', display_name: 'PostgreSQL' },
  { name: 'mariadb', display_name: 'MariaDB' },
  { name: 'redis', display_name: 'Redis' },
  { name: 'valkey', display_name: 'Valkey' },
]

/** The types that this operator runs, for an empty table. Empty if the table needs columns that are not known here. */
export function seedStatements(schema: DatabaseSchema): readonly Statement[] {
  const columns = schema.tables.resource_types
  if (columns === undefined) return []
  const statements = TYPES.map((type) => {
    const row: Readonly<Record<string, unknown>> = {
      ...type,
      category: 'database',
      icon: type.name,
      supports_full_lifecycle: true,
      supports_partial_lifecycle: true,
      supports_user_management: false,
      supports_backup: false,
    }
    const names = Object.keys(row).filter((name) => columns.has(name))
    const text = `INSERT INTO resource_types (${names.map(quoteIdentifier).join(', ')})
      VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`
    return { names, statement: { text, values: names.map((name) => row[name]) } }
  })
  const names = new Set(statements[0]?.names)
  const isSettable = [...columns].every(([name, { isRequired }]) => !isRequired || names.has(name))
  return isSettable ? statements.map(({ statement }) => statement) : []
}
