import type { SecretValue } from '@tenure/kube'

export interface SqlResult<Row> {
  readonly rows: readonly Row[]
  /** Rows that the statement returned or changed. */
  readonly count: number
}

/** Runs SQL. Values are always parameters, never part of the text. */
export interface SqlExecutor {
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<SqlResult<Row>>
}

export interface TransactionOptions {
  /** Marks the writes as this operator's: they neither grow the generation of a row nor notify. Default: the platform's. */
  readonly writer?: 'controller'
  /** Milliseconds that one statement may take. Default: that of the connection. */
  readonly timeout?: number
}

/** A connection of its own, for LISTEN. */
export interface SqlSession extends SqlExecutor {
  close(): Promise<void>
}

export interface SqlSessionHandlers {
  notification(channel: string, payload: string): void
  /** The connection broke. Not called after `close`. */
  end(error: Error): void
}

/** A PostgreSQL database. Every rejection is a TenureError with a code `TENURE_DB_…`. */
export interface Database extends SqlExecutor {
  /** Commits when `run` resolves, rolls back when it rejects. */
  transaction<T>(run: (transaction: SqlExecutor) => Promise<T>, options?: TransactionOptions): Promise<T>
  openSession(handlers: SqlSessionHandlers): Promise<SqlSession>
  /** False from a connection failure until the server answers again. Statements fail at once meanwhile. */
  readonly isUp: boolean
  /** The failure that made it unusable; undefined if it is up. */
  readonly failure: Error | undefined
  /** Times that the server answered again after a failure. */
  readonly reconnects: number
  /** Calls `listener` after every change of `isUp`; returns a function that ends that. */
  onStateChange(listener: () => void): () => void
  /** Resolves when the server answers; rejects when the signal aborts. */
  whenUp(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
export type SslMode = (typeof SSL_MODES)[number]

export interface DatabaseAddress {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: SecretValue | undefined
  readonly database: string
  /** Default `disable`. */
  readonly sslMode?: SslMode
  /** PEM of the authorities that `verify-ca` and `verify-full` trust. Default: those of Node.js. */
  readonly ca?: string | undefined
}
