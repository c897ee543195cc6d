import { checkServerIdentity, type ConnectionOptions } from 'node:tls'
import { type Clock, type Random, jitter, sleep } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import pg from 'pg'
import type {
  Database,
  DatabaseAddress,
  SqlExecutor,
  SqlResult,
  SqlSession,
  SqlSessionHandlers,
  TransactionOptions,
} from './database.ts'
import { closedError, databaseError, isConnectionFailure } from './errors.ts'

const DEFAULT_MAX_CONNECTIONS = 10
const DEFAULT_STATEMENT_TIMEOUT_MS = 20_000
const CONNECT_TIMEOUT_MS = 5_000
/** A quiet connection is probed by TCP after this time, so that a firewall does not forget it. */
const KEEP_ALIVE_MS = 10_000
/** A statement waits this long for a lock of the platform. */
const LOCK_TIMEOUT_MS = 5_000
const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 10_000
const RETRY_JITTER = 0.2

export interface ConnectOptions {
  readonly address: DatabaseAddress
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Shown in pg_stat_activity. Default `nest-controller`. */
  readonly applicationName?: string
  /** Connections for statements; sessions are extra. Default 10. */
  readonly maxConnections?: number
  /** Longer statements are cancelled, and their connection is closed. Default 20 s. */
  readonly statementTimeout?: number
}

/** Opens connections when they are needed: a server that is down is not an error here. */
export function connectDatabase(options: ConnectOptions): Database {
  return new PostgresDatabase(options)
}

class PostgresDatabase implements Database {
  readonly #options: ConnectOptions
  readonly #timeout: number
  readonly #pool: pg.Pool
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #hasConnected = false
  #failure: Error | undefined
  #reconnects = 0
  #probing: Promise<void> | undefined

  constructor(options: ConnectOptions) {
    this.#options = options
    this.#timeout = options.statementTimeout ?? DEFAULT_STATEMENT_TIMEOUT_MS
    this.#pool = new pg.Pool({ ...this.#clientConfig(), max: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS })
    // An idle connection broke: the next statement would find out too late for the probes.
    this.#pool.on('error', (error) => this.#fail(error))
    this.#pool.on('connect', () => this.#setConnected())
  }

  get isUp(): boolean {
    return this.#hasConnected && this.#failure === undefined && !this.#closing.signal.aborted
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  get reconnects(): number {
    return this.#reconnects
  }

  onStateChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  whenUp(signal?: AbortSignal): Promise<void> {
    if (this.isUp) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        if (!this.isUp && !signal?.aborted && !this.#closing.signal.aborted) return
        stopListening()
        signal?.removeEventListener('abort', settle)
        if (this.isUp) resolve()
        else reject(closedError())
      }
      const stopListening = this.onStateChange(settle)
      signal?.addEventListener('abort', settle)
      settle()
      if (!this.#hasConnected) this.#startProbe()
    })
  }

  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    return this.#withClient((client) => run<Row>(client, text, values))
  }

  transaction<T>(
    work: (transaction: SqlExecutor) => Promise<T>,
    { timeout = this.#timeout, writer }: TransactionOptions = {},
  ): Promise<T> {
    // One message: statements without parameters may be joined. SET LOCAL also works behind a pooler.
    const begin = [
      'BEGIN',
      `SET LOCAL statement_timeout = ${timeout}`,
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      ...(writer === undefined ? [] : [`SET LOCAL tenure.writer = '${writer}'`]),
    ].join('; ')
    return this.#withClient(async (client) => {
      await run(client, begin)
      try {
        const result = await work({ query: (text, values) => run(client, text, values, timeout + LOCK_TIMEOUT_MS) })
        await run(client, 'COMMIT')
        return result
      } catch (error) {
        await run(client, 'ROLLBACK').catch((failure: unknown) => {
          throw new BrokenTransaction(failure, error)
        })
        throw error
      }
    })
  }

  async openSession(handlers: SqlSessionHandlers): Promise<SqlSession> {
    if (this.#closing.signal.aborted) throw closedError()
    const client = new pg.Client(this.#clientConfig())
    let isClosed = false
    client.on('error', (error) => {
      if (isClosed) return
      isClosed = true
      handlers.end(this.#fail(error))
    })
    client.on('end', () => {
      if (isClosed) return
      isClosed = true
      handlers.end(this.#fail(new Error('Connection ended')))
    })
    client.on('notification', ({ channel, payload }) => handlers.notification(channel, payload ?? ''))
    try {
      await client.connect()
    } catch (error) {
      isClosed = true
      throw this.#fail(error)
    }
    return {
      query: (text, values) => run(client, text, values),
      async close() {
        isClosed = true
        await client.end().catch(() => undefined)
      },
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort(closedError())
    for (const listener of this.#listeners) listener()
    await this.#probing
    await this.#pool.end()
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closedError()
    if (this.#failure !== undefined) throw this.#failure
    let client: pg.PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw this.#fail(error)
    }
    client.on('error', ignoreEvent)
    let isBroken = false
    try {
      return await work(client)
    } catch (thrown) {
      const [failure, error] = thrown instanceof BrokenTransaction ? [thrown.failure, thrown.first] : [thrown, thrown]
      isBroken = thrown instanceof BrokenTransaction || isConnectionFailure(failure)
      if (isBroken) this.#fail(failure)
      throw error
    } finally {
      client.off('error', ignoreEvent)
      client.release(isBroken)
    }
  }

  /** Records a failure, and begins to probe if it concerns the connection. Returns the failure for the caller. */
  #fail(thrown: unknown): Error {
    const error = databaseError(thrown)
    if (!isConnectionFailure(error) || this.#closing.signal.aborted) return error
    if (this.#failure === undefined) {
      this.#failure = error
      this.#options.log.warn('database connection lost', { error })
      for (const listener of this.#listeners) listener()
    }
    this.#startProbe()
    return error
  }

  #setConnected(): void {
    if (this.#hasConnected) return
    this.#hasConnected = true
    for (const listener of this.#listeners) listener()
  }

  #startProbe(): void {
    this.#probing ??= this.#probe().finally(() => (this.#probing = undefined))
  }

  /** Tries at once, then with backoff, until a new connection answers and may write. */
  async #probe(): Promise<void> {
    const { clock, log, random } = this.#options
    let delay = MIN_RETRY_MS
    while (!this.#closing.signal.aborted) {
      try {
        await this.#ping()
        break
      } catch (thrown) {
        const error = databaseError(thrown)
        if (this.#failure === undefined) log.warn('database connection failed', { error })
        this.#failure = error
      }
      await sleep(clock, jitter(random, delay, RETRY_JITTER), this.#closing.signal).catch(() => undefined)
      delay = Math.min(delay * 2, MAX_RETRY_MS)
    }
    if (this.#closing.signal.aborted) return
    const hadFailed = this.#failure !== undefined
    this.#failure = undefined
    if (this.#hasConnected && hadFailed) {
      this.#reconnects++
      log.info('database connection restored', { reconnects: this.#reconnects })
    }
    this.#hasConnected = true
    for (const listener of this.#listeners) listener()
  }

  async #ping(): Promise<void> {
    const client = new pg.Client(this.#clientConfig())
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ readOnly: boolean }>('SELECT pg_is_in_recovery() AS "readOnly"')
      if (rows[0]?.readOnly) throw Object.assign(new Error('the server is a standby'), { code: '25006' })
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  #clientConfig(): pg.ClientConfig {
    const { address, applicationName = 'nest-controller' } = this.#options
    return {
      host: address.host,
      port: address.port,
      user: address.user,
      database: address.database,
      // A function keeps the driver from looking for ~/.pgpass and PGPASSWORD.
      password: () => address.password?.reveal() ?? '',
      ssl: tlsOptions(address),
      application_name: applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // The driver counts it: a statement_timeout in the startup message is refused by poolers.
      query_timeout: this.#timeout + LOCK_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    }
  }
}

/** A transaction whose rollback failed: the connection cannot be used again. */
class BrokenTransaction extends Error {
  readonly failure: unknown
  readonly first: unknown

  constructor(failure: unknown, first: unknown) {
    super('The rollback failed')
    this.failure = failure
    this.first = first
  }
}

/** A connection that breaks while a transaction holds it emits an event; the next statement reports the failure. */
function ignoreEvent(): void {}

async function run<Row extends object = Record<string, unknown>>(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
  timeout?: number,
): Promise<SqlResult<Row>> {
  try {
    // Without values the driver uses the simple protocol, which takes several statements at once.
    const query = {
      text,
      ...(values.length > 0 && { values: [...values] }),
      ...(timeout && { query_timeout: timeout }),
    }
    const { rows, rowCount } = await client.query<Row>(query)
    return { rows, count: rowCount ?? 0 }
  } catch (error) {
    throw databaseError(error)
  }
}

/** The meaning of libpq's sslmode: `require` encrypts, `verify-ca` checks the issuer, `verify-full` also the name. */
export function tlsOptions({ host, sslMode = 'disable', ca }: DatabaseAddress): false | ConnectionOptions {
  const authorities = ca === undefined ? {} : { ca }
  switch (sslMode) {
    case 'disable':
      return false
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      return { ...authorities, rejectUnauthorized: true, checkServerIdentity: () => undefined }
    case 'verify-full':
      // The driver passes no host for an IP address, and Node.js would check for "localhost".
      return {
        ...authorities,
        rejectUnauthorized: true,
        checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
      }
    default:
      return sslMode satisfies never
  }
}
