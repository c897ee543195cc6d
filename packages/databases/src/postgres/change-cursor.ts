import type { SqlExecutor } from './database.ts'
import { POLLING_UNTIL } from './migrations/triggers.ts'
import type { RawResource } from './resource-query.ts'

/** The transactions that a reader sees at one moment. Transaction ids are decimal text of 64 bits. */
export interface Snapshot {
  /** All transactions with a lower id have ended, and a reader sees them. */
  readonly xmin: string
  /** No transaction with this id or a higher one has begun. */
  readonly xmax: string
  /** The server's time, in milliseconds since 1970. */
  readonly time: number
  /** Until when writers do not notify, because a reader announced that it polls. */
  readonly pollingUntil: number
}

/**
 * A position in the stream of changes. Transactions commit in another order than they take their ids, so everything
 * from the oldest that was still running is read again, and rows that were seen are left out.
 */
export interface ChangeCursor {
  readonly xmin: string
  /** The transactions that changed the rows that were seen, by id of the row; only those from `xmin` on. */
  readonly seen: ReadonlyMap<string, string>
}

export async function readSnapshot(executor: SqlExecutor): Promise<Snapshot> {
  const { rows } = await executor.query<{ xmin: string; xmax: string; time: string; pollingUntil: string }>(
    `SELECT pg_snapshot_xmin(s)::text AS xmin, pg_snapshot_xmax(s)::text AS xmax,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS time,
            (SELECT last_value::text FROM ${POLLING_UNTIL}) AS "pollingUntil"
     FROM pg_current_snapshot() AS s`,
  )
  const { pollingUntil = '0', time = '0', xmax = '0', xmin = '0' } = rows[0] ?? {}
  return { xmin, xmax, time: Number(time), pollingUntil: Number(pollingUntil) }
}

type ChangedRow = Pick<RawResource, 'id' | 'changeXid'>

export function cursorAfter({ xmin }: Snapshot, rows: readonly ChangedRow[]): ChangeCursor {
  const from = BigInt(xmin)
  const seen = new Map<string, string>()
  for (const { changeXid, id } of rows) if (BigInt(changeXid) >= from) seen.set(id, changeXid)
  return { xmin, seen }
}

export function unseenRows<Row extends ChangedRow>(cursor: ChangeCursor, rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ changeXid, id }) => cursor.seen.get(id) !== changeXid)
}
