import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Clock, type Random, SecretValue, systemClock, systemRandom } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import pg from 'pg'
import { prepareBinaries } from './binaries.ts'
import { freePort } from './free-port.ts'
import { stopOrphan } from './postmaster.ts'
import { initializeData, PostgresServer, resetPassword, SUPERUSER } from './server.ts'
import { canReach, type UnprivilegedUser, unprivilegedUser } from './unprivileged-user.ts'

/** The file in the directory that holds the connection string, readable for its owner only. */
export const POSTGRES_URL_FILE = 'postgres-url'
const DEFAULT_DATABASE = 'nest'
const PASSWORD_BYTES = 24
/** Used when the account of PostgreSQL cannot enter the directory. */
const SHARED_STATE_FOLDER = '/var/lib/tenure'

/** Small and safe: every commit is on disk, and an idle server does nothing. */
const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '50',
  shared_buffers: '16MB',
  dynamic_shared_memory_type: process.platform === 'win32' ? 'windows' : 'mmap',
  max_wal_size: '128MB',
  min_wal_size: '32MB',
  password_encryption: 'scram-sha-256',
}

export interface EmbeddedPostgresOptions {
  /** The data directory of Tenure; the server uses `postgres/` below it. */
  readonly directory: string
  readonly log: Logger
  /** Default 0: the port of the last start if it is free, otherwise any. */
  readonly port?: number
  /** Default `nest`. */
  readonly database?: string
  readonly clock?: Clock
  readonly random?: Random
  /** Called when the server ends although `stop` was not called. */
  readonly onExit?: (code: number | string) => void
}

export interface EmbeddedPostgres {
  /** With the password: print the file's name instead. */
  readonly url: SecretValue
  readonly urlFile: string
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: SecretValue
  readonly database: string
  stop(): Promise<void>
}

interface Home {
  /** The folder that holds `data` and, if needed, a copy of the programs. */
  readonly folder: string
  readonly user: UnprivilegedUser | undefined
}

/**
 * Starts a PostgreSQL server that lives as long as this process, on loopback, with a password. The first start creates
 * its data. A server that an earlier process left running is stopped; after a crash the server recovers.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { clock = systemClock, database = DEFAULT_DATABASE, log, random = systemRandom } = options
  const directory = path.resolve(options.directory)
  const { folder, user } = await prepareHome(directory)
  const binaries = await prepareBinaries(folder, user)
  const urlFile = path.join(directory, POSTGRES_URL_FILE)
  const data = path.join(folder, 'data')
  const earlier = await readUrl(urlFile)
  const password = new SecretValue(earlier?.password ?? Buffer.from(random.bytes(PASSWORD_BYTES)).toString('base64url'))
  // Before a port is chosen: the server of a process that was killed may still have it, and clients know that port.
  await stopOrphan(data, clock)
  const port = await freePort(options.port ?? earlier?.port)
  const address = { host: '127.0.0.1', port, user: SUPERUSER, password, database }
  const url = new SecretValue(`postgres://${SUPERUSER}:${password.reveal()}@127.0.0.1:${port}/${database}`)
  // Before initdb: a crash in between must not leave data with an unknown password.
  await writeUrl(urlFile, url)
  if (!existsSync(path.join(data, 'PG_VERSION'))) {
    log.info('creating the data directory of the embedded PostgreSQL', { directory: data })
    await initializeData({ binaries, data, user }, password)
  } else if (earlier === undefined) {
    log.info('the connection string is missing, setting a new password', { file: urlFile })
    await resetPassword({ binaries, data, user }, password)
  }
  const server = await PostgresServer.start({ binaries, data, user, clock, port, settings: SETTINGS })
  let isStopping = false
  try {
    await createDatabase(address)
  } catch (error) {
    await server.stop()
    throw error
  }
  void server.exited.then((code) => (isStopping ? undefined : options.onExit?.(code)))
  return {
    ...address,
    url,
    urlFile,
    async stop() {
      isStopping = true
      await server.stop()
    },
  }
}

/** Root keeps the data where the account of PostgreSQL can reach it, with a link from the directory. */
async function prepareHome(directory: string): Promise<Home> {
  await mkdir(directory, { recursive: true })
  const user = await unprivilegedUser()
  const folder = path.join(directory, 'postgres')
  const isLink = await lstat(folder).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
  if (isLink || !(await canReach(directory, user))) {
    const id = createHash('sha256').update(directory).digest('hex').slice(0, 16)
    const home = path.join(SHARED_STATE_FOLDER, `postgres-${id}`)
    await mkdir(home, { recursive: true, mode: 0o755 })
    if (!isLink) await symlink(home, folder)
    if (user) await chown(home, user.uid, user.gid)
    return { folder: home, user }
  }
  await mkdir(folder, { recursive: true, mode: 0o755 })
  if (user) await chown(folder, user.uid, user.gid)
  return { folder, user }
}

async function createDatabase({
  host,
  port,
  user,
  password,
  database,
}: Omit<EmbeddedPostgres, 'stop' | 'url' | 'urlFile'>): Promise<void> {
  const client = new pg.Client({ host, port, user, password: () => password.reveal(), database: 'postgres' })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`)
  } finally {
    await client.end()
  }
}

async function readUrl(file: string): Promise<{ readonly password: string; readonly port: number } | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const url = URL.parse(text.trim())
  return url === null || url.password === '' ? undefined : { password: url.password, port: Number(url.port) }
}

/** Renamed into place: a reader never sees half a line, and an existing file never widens the mode. */
async function writeUrl(file: string, url: SecretValue): Promise<void> {
  const temporary = `${file}.new`
  await rm(temporary, { force: true })
  await writeFile(temporary, `${url.reveal()}\n`, { mode: 0o600, flag: 'wx' })
  await rename(temporary, file)
}
