import { columnType, type DatabaseSchema, hasColumn } from '../schema.ts'
import { quoteIdentifier } from '../sql-text.ts'

/** Tells listeners that desired state changed. The payload is constant, so it cannot exceed NOTIFY's limit. */
export const CHANGE_CHANNEL = 'tenure_resources'
/**
 * A sequence that holds a time in milliseconds since 1970: until then a reader polls, and writers need not notify. A
 * sequence, because its value is visible at once and outside of transactions.
 */
export const POLLING_UNTIL = 'tenure_polling_until'
/** A later time than this many milliseconds from now is a clock that jumped: writers notify. */
export const MAX_POLLING_AHEAD_MS = 1_000

/** Columns by which the platform says what it wants. Missing ones are left out. */
export const DESIRED_COLUMNS = [
  'name',
  'resource_type_id',
  'team_id',
  'status',
  'lifecycle_mode',
  'k8s_namespace',
  'config',
  'deleted_at',
] as const

/** BEFORE triggers fire in the order of their names: this one must see the changes of the platform's own. */
export const CHANGE_TRIGGERS = { insert: 'zz_tenure_inserted', update: 'zz_tenure_updated' } as const

/** Grows when the function or a trigger changes, so that older ones are replaced. */
export const TRIGGER_VERSION = 1

const IS_PLATFORM = `coalesce(current_setting('tenure.writer', true), '') <> 'controller'`

/**
 * NOTIFY makes its transaction hold a lock of the whole cluster while it commits, so that commits wait for each other's
 * disk writes. While a reader polls anyway, nothing is sent. The transaction takes its id before it looks: a reader that
 * stops polling waits for the transactions that run at that moment, and so misses none of them.
 */
export function triggerStatements(schema: DatabaseSchema): readonly string[] {
  const inSchema = (name: string): string => `${quoteIdentifier(schema.namespace)}.${quoteIdentifier(name)}`
  const table = inSchema('resources')
  const call = `${inSchema('tenure_resource_changed')}()`
  const changed = ['generation', ...DESIRED_COLUMNS]
    .filter((column) => hasColumn(schema, 'resources', column))
    .map((column) => isDistinct(schema, column))
  return [
    `CREATE SEQUENCE IF NOT EXISTS ${inSchema(POLLING_UNTIL)} MINVALUE 0 START 0`,
    // The trigger runs as the platform's user.
    `GRANT SELECT ON SEQUENCE ${inSchema(POLLING_UNTIL)} TO PUBLIC`,
    `CREATE OR REPLACE FUNCTION ${call} RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  ahead double precision;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.generation := OLD.generation + 1;
  END IF;
  NEW.change_xid := pg_catalog.pg_current_xact_id()::text::bigint;
  SELECT last_value - extract(epoch FROM pg_catalog.clock_timestamp()) * 1000 INTO ahead FROM ${inSchema(POLLING_UNTIL)};
  IF ahead IS NULL OR ahead <= 0 OR ahead > ${MAX_POLLING_AHEAD_MS} THEN
    PERFORM pg_catalog.pg_notify('${CHANGE_CHANNEL}', '');
  END IF;
  RETURN NEW;
END $body$`,
    `DROP TRIGGER IF EXISTS ${CHANGE_TRIGGERS.insert} ON ${table}`,
    `CREATE TRIGGER ${CHANGE_TRIGGERS.insert} BEFORE INSERT ON ${table}
FOR EACH ROW WHEN (${IS_PLATFORM}) EXECUTE FUNCTION ${call}`,
    `DROP TRIGGER IF EXISTS ${CHANGE_TRIGGERS.update} ON ${table}`,
    // The condition is evaluated without calling the function: other updates cost next to nothing.
    `CREATE TRIGGER ${CHANGE_TRIGGERS.update} BEFORE UPDATE ON ${table}
FOR EACH ROW WHEN ((${changed.join(' OR ')}) AND ${IS_PLATFORM}) EXECUTE FUNCTION ${call}`,
  ]
}

/** The type json has no equality. */
function isDistinct(schema: DatabaseSchema, column: string): string {
  const cast = columnType(schema, 'resources', column) === 'json' ? '::text' : ''
  const name = quoteIdentifier(column)
  return `OLD.${name}${cast} IS DISTINCT FROM NEW.${name}${cast}`
}
