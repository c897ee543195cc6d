import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Clock, type SecretValue, sleep, TenureError } from '@tenure/kube'
import { readPostmaster, signalProcess, stopOrphan } from './postmaster.ts'
import type { UnprivilegedUser } from './unprivileged-user.ts'

export interface ServerOptions {
  /** Folder of initdb and postgres. */
  readonly binaries: string
  /** The data directory; its parent must exist and be reachable for `user`. */
  readonly data: string
  readonly user: UnprivilegedUser | undefined
  readonly clock: Clock
  readonly port: number
  /** Settings of postgresql.conf, by name. */
  readonly settings?: Readonly<Record<string, string>>
}

export const SUPERUSER = 'postgres'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 10_000
const READY_INTERVAL_MS = 5
/** The last output of the server, for the message of a failed start. */
const MAX_OUTPUT_CHARACTERS = 4_000

/**
 * Runs the server and stops it (fast shutdown) when descriptor 3 closes: the kernel closes it when this process dies,
 * even by SIGKILL.
 */
const SUPERVISE = `
"$@" 3<&- & server=$!
( read -r _; kill -INT "$server" 2>/dev/null ) <&3 2>/dev/null & watcher=$!
exec 3<&-
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`

/** Creates the data directory. The password reaches initdb by a file that only its user can read. */
export async function initializeData(
  { binaries, data, user }: Pick<ServerOptions, 'binaries' | 'data' | 'user'>,
  password: SecretValue,
): Promise<void> {
  // initdb works in a folder of its own, so that a crash leaves nothing that looks complete.
  const staging = `${data}.new`
  const passwordFile = `${data}.password`
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging, { mode: 0o700 })
  await rm(passwordFile, { force: true })
  await writeFile(passwordFile, `${password.reveal()}\n`, { mode: 0o600, flag: 'wx' })
  try {
    if (user) for (const file of [staging, passwordFile]) await chown(file, user.uid, user.gid)
    const args = ['-D', staging, '-U', SUPERUSER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '-E', 'UTF8']
    // --no-sync: the first checkpoint of the server writes everything; a crash before it starts over.
    const child = spawn(path.join(binaries, 'initdb'), [...args, '--locale=C', '--no-sync', '--no-instructions'], {
      ...identity(user),
      cwd: '/',
      env: serverEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = lastOutput(child)
    const code = await exitOf(child)
    if (code !== 0) throw failure('Creating the data directory of PostgreSQL', code, output())
  } finally {
    await rm(passwordFile, { force: true })
  }
  await rename(staging, data)
}

/** Sets the superuser's password while no server runs. */
export async function resetPassword(
  { binaries, data, user }: Pick<ServerOptions, 'binaries' | 'data' | 'user'>,
  password: SecretValue,
): Promise<void> {
  const child = spawn(path.join(binaries, 'postgres'), ['--single', '-D', data, 'postgres'], {
    ...identity(user),
    cwd: '/',
    env: serverEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output = lastOutput(child)
  // Single-user mode reads statements from standard input, one per line.
  child.stdin.end(`ALTER ROLE ${SUPERUSER} PASSWORD '${password.reveal().replaceAll("'", "''")}'\n`)
  const code = await exitOf(child)
  if (code !== 0) throw failure('Setting the password of PostgreSQL', code, output())
}

/** A PostgreSQL server that is a child of this process. */
export class PostgresServer {
  readonly port: number
  readonly #child: ChildProcess
  readonly #options: ServerOptions
  readonly #exited: Promise<number | string>
  #isRunning = true

  private constructor(child: ChildProcess, options: ServerOptions) {
    this.#child = child
    this.#options = options
    this.port = options.port
    this.#exited = exitOf(child)
    void this.#exited.then(() => (this.#isRunning = false))
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Resolves with the exit code or signal. */
  get exited(): Promise<number | string> {
    return this.#exited
  }

  /** Starts the server and waits until it accepts connections. */
  static async start(options: ServerOptions): Promise<PostgresServer> {
    const { binaries, clock, data, port, settings = {}, user } = options
    const earlier = await stopOrphan(data, clock)
    const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const command = [path.join(binaries, 'postgres'), '-D', data, '-p', String(port), ...args]
    const isPosix = process.platform !== 'win32'
    const child = spawn(
      isPosix ? '/bin/sh' : (command[0] ?? ''),
      isPosix ? ['-c', SUPERVISE, 'sh', ...command] : command.slice(1),
      {
        ...identity(user),
        cwd: isPosix ? '/' : undefined,
        env: serverEnvironment(),
        // A terminal's Ctrl-C goes to the whole group: the server must outlive the operators that use it.
        detached: isPosix,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      },
    )
    const server = new PostgresServer(child, options)
    const output = lastOutput(child)
    await server.#untilReady(earlier?.run, output)
    return server
  }

  /** Ends all connections, writes a checkpoint and exits. */
  async stop(): Promise<void> {
    // Closing the pipe also tells the supervisor.
    const pid = await this.#serverPid()
    if (pid !== undefined) signalProcess(pid, 'SIGINT')
    this.#child.stdio[3]?.destroy()
    const timer = this.#options.clock.setTimer(STOP_TIMEOUT_MS, () => {
      if (pid !== undefined) signalProcess(pid, 'SIGQUIT')
    })
    await this.#exited
    timer.cancel()
  }

  /** Ends the server as a crash would: no checkpoint, the next start recovers. */
  async kill(): Promise<void> {
    const pid = await this.#serverPid()
    if (pid !== undefined) signalProcess(pid, 'SIGQUIT')
    await this.#exited
  }

  async #serverPid(): Promise<number | undefined> {
    return this.#isRunning ? (await readPostmaster(this.#options.data))?.pid : undefined
  }

  async #untilReady(earlierRun: string | undefined, output: () => string): Promise<void> {
    const { clock, data } = this.#options
    const deadline = clock.monotonic() + START_TIMEOUT_MS
    for (;;) {
      if (!this.#isRunning) throw failure('Starting PostgreSQL', await this.#exited, output())
      const found = await readPostmaster(data)
      if (found?.isReady && found.run !== earlierRun) return
      if (clock.monotonic() > deadline) {
        await this.stop()
        throw failure('Starting PostgreSQL', 'a time-out', output())
      }
      await sleep(clock, READY_INTERVAL_MS)
    }
  }
}

/** Variables such as PGDATA, PGPORT or LC_ALL of the user must not reach the server. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TEMP, TMPDIR } = process.env
  return {
    ...(PATH && { PATH }),
    ...(SystemRoot && { SystemRoot }),
    ...(TEMP && { TEMP }),
    ...(TMPDIR && { TMPDIR }),
    LC_ALL: 'C',
    TZ: 'UTC',
  }
}

function identity(user: UnprivilegedUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid }
}

async function exitOf(child: ChildProcess): Promise<number | string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    return code ?? signal ?? 'unknown'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function lastOutput(child: ChildProcess): () => string {
  let text = ''
  const add = (chunk: Buffer): void => {
    text = (text + chunk.toString()).slice(-MAX_OUTPUT_CHARACTERS)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => text.trim()
}

function failure(activity: string, code: number | string, output: string): TenureError {
  return new TenureError(
    'TENURE_DB_SERVER_FAILED',
    `${activity} failed (${code})${output === '' ? '; the server printed nothing.' : `: ${output}`}`,
    { fate: 'retry' },
  )
}
