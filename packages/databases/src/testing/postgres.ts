import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SecretValue, systemClock } from '@tenure/kube'
import pg from 'pg'
import { installedBinaries, prepareBinaries } from '../embedded-postgres/binaries.ts'
import { freePort } from '../embedded-postgres/free-port.ts'
import { initializeData, PostgresServer, type ServerOptions, SUPERUSER } from '../embedded-postgres/server.ts'
import { unprivilegedUser } from '../embedded-postgres/unprivileged-user.ts'
import type { DatabaseAddress } from '../postgres/database.ts'

/** `system`: PostgreSQL 15 of Debian. `embedded`: that of `npm start`, 18. */
export type PostgresFlavor = 'system' | 'embedded'

const SYSTEM_BINARIES = '/usr/lib/postgresql/15/bin'
const PASSWORD = 'correct-horse-battery-staple'
const PGBOUNCER = '/usr/sbin/pgbouncer'

/** The flavors on this machine. A missing one is named once, or is an error if TENURE_REQUIRE_POSTGRES=1. */
export const postgresFlavors: readonly PostgresFlavor[] = (['system', 'embedded'] as const).filter((flavor) => {
  const isAvailable = flavor === 'system' ? existsSync(SYSTEM_BINARIES) : installedBinaries() !== undefined
  if (!isAvailable) reportMissing(`PostgreSQL (${flavor})`)
  return isAvailable
})

export const hasPgbouncer: boolean = existsSync(PGBOUNCER)
if (!hasPgbouncer) reportMissing('pgbouncer')

function reportMissing(program: string): void {
  if (process.env['TENURE_REQUIRE_POSTGRES'] === '1') throw new Error(`${program} is not installed`)
  process.stderr.write(`${program} is not installed, its tests are left out\n`)
}

export interface TestPostgresOptions {
  /** PEM of the server's certificate and of its key. Default: the server offers no TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string }
}

/** A server for tests, with a new database for each. */
export class TestPostgres {
  readonly flavor: PostgresFlavor
  readonly #folder: string
  readonly #options: ServerOptions
  readonly #cleanups: (() => Promise<void>)[] = []
  #server: PostgresServer
  #databases = 0
  #snapshots = 0

  private constructor(flavor: PostgresFlavor, folder: string, options: ServerOptions, server: PostgresServer) {
    this.flavor = flavor
    this.#folder = folder
    this.#options = options
    this.#server = server
  }

  static async start(flavor: PostgresFlavor, { tls }: TestPostgresOptions = {}): Promise<TestPostgres> {
    const user = await unprivilegedUser()
    const folder = await mkdtemp(path.join(tmpdir(), `tenure-postgres-${flavor}-`))
    await chmod(folder, 0o755)
    if (user) await chown(folder, user.uid, user.gid)
    const binaries = flavor === 'system' ? SYSTEM_BINARIES : await prepareBinaries(folder, user)
    const data = path.join(folder, 'data')
    await initializeData({ binaries, data, user }, new SecretValue(PASSWORD))
    const settings = {
      fsync: 'off',
      shared_buffers: '16MB',
      max_connections: '100',
      unix_socket_directories: '',
      ...(tls && (await tlsSettings(folder, tls, user))),
    }
    const options = { binaries, data, user, clock: systemClock, port: await freePort(), settings }
    return new TestPostgres(flavor, folder, options, await PostgresServer.start(options))
  }

  get port(): number {
    return this.#options.port
  }

  /** Creates a database with the given schema and returns its address. */
  async createDatabase(schema = ''): Promise<DatabaseAddress> {
    const address = this.#address(`test_${this.flavor}_${process.pid}_${++this.#databases}`)
    await this.run(`CREATE DATABASE ${address.database}`)
    if (schema !== '') await this.run(schema, address)
    return address
  }

  /** Runs statements as another client would; returns the rows of the last one. */
  async run(text: string, address = this.#address('postgres')): Promise<readonly Record<string, unknown>[]> {
    const client = await this.connect(address)
    try {
      const result: unknown = await client.query(text)
      const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryResult<Record<string, unknown>>
      return last.rows
    } finally {
      await client.end()
    }
  }

  /** A connection of another client: the platform. */
  async connect(address: DatabaseAddress): Promise<pg.Client> {
    const client = new pg.Client({
      host: address.host,
      port: address.port,
      user: address.user,
      password: PASSWORD,
      database: address.database,
    })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** Closes the connections of a database, as a failover or an administrator would. */
  async terminateConnections({ database }: DatabaseAddress): Promise<void> {
    await this.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`)
  }

  /** Stops the server; `start` continues on the same data and port. */
  async halt(manner: 'stop' | 'kill' = 'stop'): Promise<void> {
    await this.#server[manner]()
  }

  async start(): Promise<void> {
    this.#server = await PostgresServer.start(this.#options)
  }

  /** Copies the data of the halted server; returns the folder of the copy. */
  async snapshot(): Promise<string> {
    const copy = path.join(this.#folder, `snapshot-${++this.#snapshots}`)
    await this.#copy(this.#options.data, copy)
    return copy
  }

  /** Puts a copy in the place of the data of the halted server, as a failover to an older state does. */
  async restore(snapshot: string): Promise<void> {
    await rm(this.#options.data, { recursive: true })
    await this.#copy(snapshot, this.#options.data)
  }

  /** Starts a pgbouncer in transaction mode before this server, and returns the address of a database through it. */
  async pgbouncer(address: DatabaseAddress): Promise<DatabaseAddress> {
    const port = await freePort()
    const { user } = this.#options
    const folder = path.join(this.#folder, `pgbouncer-${port}`)
    await mkdir(folder)
    await writeFile(path.join(folder, 'users.txt'), `"${SUPERUSER}" "${PASSWORD}"\n`)
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${this.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${folder}/users.txt`,
      'pool_mode = transaction',
    ]
    await writeFile(path.join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
    const child = spawn(PGBOUNCER, [path.join(folder, 'pgbouncer.ini')], {
      ...(user && { uid: user.uid, gid: user.gid }),
      cwd: '/',
      stdio: 'ignore',
    })
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    this.#cleanups.push(async () => {
      child.kill('SIGQUIT')
      await exited
    })
    await untilListening(port)
    return { ...address, port }
  }

  async stop(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0)) await cleanup()
    await this.#server.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** The server refuses data of another user. */
  async #copy(from: string, to: string): Promise<void> {
    const { user } = this.#options
    await cp(from, to, { recursive: true })
    if (!user) return
    const files = await readdir(to, { recursive: true })
    for (const file of ['.', ...files]) await chown(path.join(to, file), user.uid, user.gid)
  }

  #address(database: string): DatabaseAddress {
    return { host: '127.0.0.1', port: this.port, user: SUPERUSER, password: new SecretValue(PASSWORD), database }
  }
}

/** Writes the certificate and its key, which only the server's user may read, and returns the settings that name them. */
async function tlsSettings(
  folder: string,
  { certificate, key }: NonNullable<TestPostgresOptions['tls']>,
  user: ServerOptions['user'],
): Promise<Readonly<Record<string, string>>> {
  const [certificateFile, keyFile] = [path.join(folder, 'server.crt'), path.join(folder, 'server.key')]
  await writeFile(certificateFile, certificate)
  await writeFile(keyFile, key, { mode: 0o600 })
  if (user) for (const file of [certificateFile, keyFile]) await chown(file, user.uid, user.gid)
  return { ssl: 'on', ssl_cert_file: certificateFile, ssl_key_file: keyFile }
}

/** Waits for a condition; fails with its text after `limit` milliseconds. */
export async function until<T>(condition: () => T | Promise<T>, limit = 15_000): Promise<T> {
  const deadline = Date.now() + limit
  for (;;) {
    const result = await condition()
    if (result) return result
    if (Date.now() > deadline) throw new Error(`Not met within ${limit} ms: ${String(condition)}`)
    await delay(5)
  }
}

function untilListening(port: number): Promise<boolean> {
  return until(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1')
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
        socket.once('close', () => resolve(false))
        socket.once('connect', () => socket.destroy())
      }),
  )
}
