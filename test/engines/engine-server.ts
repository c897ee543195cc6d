import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '@tenure/kube/testing'
import type { Container, Probe } from '@tenure/kube/kinds'
import { readDatabaseConfig } from '../../packages/databases/src/config/read-config.ts'
import type { EngineName } from '../../packages/databases/src/engines/engine.ts'
import { ENGINES } from '../../packages/databases/src/engines/table.ts'
import { credentialsOf, secretDataOf } from '../../packages/databases/src/objects/credentials.ts'
import { databaseObjects, type DatabaseObjects } from '../../packages/databases/src/objects/database-objects.ts'

/** With TENURE_REQUIRE_ENGINES=1 a missing server is a failure, unless Debian 12 does not package it. */
const isRequired = process.env['TENURE_REQUIRE_ENGINES'] === '1'
const UNPACKAGED = 'valkey-server'

/** The directory of the newest Debian package of PostgreSQL, where its commands are that are not in the path. */
function postgresqlDirectory(): string | undefined {
  const base = '/usr/lib/postgresql'
  const newest = existsSync(base) ? readdirSync(base).toSorted((a, b) => Number(b) - Number(a))[0] : undefined
  return newest === undefined ? undefined : path.join(base, newest, 'bin')
}

export const searchPath = [postgresqlDirectory(), process.env['PATH'], '/usr/sbin', '/usr/local/sbin']
  .filter((part) => part !== undefined)
  .join(':')

/** Whether a test of these commands is left out, because one of them is not installed. */
export function isMissing(...commands: readonly string[]): boolean {
  const directories = searchPath.split(':')
  const missing = commands.filter((name) => !directories.some((folder) => existsSync(path.join(folder, name))))
  if (missing.length === 0 || (isRequired && !missing.includes(UNPACKAGED))) return false
  process.stderr.write(`${missing.join(', ')} not installed, the tests of that engine are left out\n`)
  return true
}

/** A user without privileges, by preference the one of the package: servers refuse to run as root. */
export function unprivileged(name: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  try {
    const id = (flag: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString())
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return { uid: 65_534, gid: 65_534 }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const COMMAND_TIMEOUT_MS = 60_000
const START_TIMEOUT_MS = 60_000

/**
 * One pod on this machine: the rendered container with its paths moved into a temporary directory and its port replaced by
 * a free one. The server is that of a package, so the image's entrypoint is missing; each test does what it documents.
 */
export class EngineServer {
  readonly engine: EngineName
  readonly objects: DatabaseObjects
  readonly secret: Readonly<Record<string, string>>
  readonly directory: string
  readonly port: number
  readonly #container: Container
  readonly #user: { readonly uid?: number; readonly gid?: number }
  readonly #replaced: (readonly [string, string])[]
  #process: ChildProcess | undefined
  #log = ''

  private constructor(type: string, config: object, port: number, userName: string) {
    const read = readDatabaseConfig({ type, config: { ...config } })
    if ('refused' in read) throw new Error(read.refused)
    const engine = ENGINES[read.config.engine]
    this.engine = engine.name
    const credentials = credentialsOf(engine, undefined, seededRandom(port))
    this.objects = databaseObjects({ name: 'shop', namespace: 'n', resourceId: '1', config: read.config, credentials })
    this.secret = secretDataOf(this.objects.secret) ?? {}
    this.port = port
    this.#user = unprivileged(userName)
    this.directory = mkdtempSync(path.join(tmpdir(), `tenure-${type}-`))
    const [container] = this.objects.statefulSet.spec?.template.spec?.containers ?? []
    if (!container) throw new Error('The StatefulSet has no container')
    this.#container = container
    this.#replaced = [[String(engine.port), String(port)]]
    this.#mountAll()
    this.#own()
  }

  static async create(type: string, config: object, userName: string): Promise<EngineServer> {
    return new EngineServer(type, config, await freePort(), userName)
  }

  /** Puts a directory or a file in place for every mount. */
  #mountAll(): void {
    const { configMap, statefulSet } = this.objects
    for (const { name, mountPath, subPath } of this.#container.volumeMounts ?? []) {
      if (name !== 'shm') this.#replaced.unshift([mountPath, path.join(this.directory, mountPath)])
      if (subPath === undefined) mkdirSync(this.map(mountPath), { recursive: true })
      const volume = statefulSet.spec?.template.spec?.volumes?.find((candidate) => candidate.name === name)
      for (const { key, path: file } of volume?.secret?.items ?? []) {
        this.write(path.join(mountPath, file), this.secret[key] ?? '')
      }
    }
    // After all mounts are known, because a file names the others.
    for (const { mountPath, subPath } of this.#container.volumeMounts ?? []) {
      if (subPath !== undefined) this.write(mountPath, configMap.data?.[subPath] ?? '')
    }
  }

  /** A text of the container with the paths and the port of this machine. */
  map(text: string): string {
    return this.#replaced.reduce(
      (mapped, [from, to]) => (mapped.includes(to) ? mapped : mapped.replaceAll(from, to)),
      text,
    )
  }

  /** Writes a file of the pod, or one directly in the temporary directory. */
  write(file: string, text: string): void {
    const target = path.resolve(this.directory, this.map(file))
    if (!target.startsWith(`${this.directory}/`)) throw new Error(`${file} is not a file of the pod`)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, this.map(text))
    this.#own()
  }

  /** Gives the temporary directory and everything in it to the server's user. */
  #own(): void {
    const { uid, gid } = this.#user
    if (uid === undefined || gid === undefined) return
    const files = readdirSync(this.directory, { recursive: true, encoding: 'utf8' })
    for (const file of ['.', ...files]) lchownSync(path.join(this.directory, file), uid, gid)
  }

  /** The environment of the container; `extra` replaces fields of the pod. */
  env(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    const entries = (this.#container.env ?? []).map(({ name, value, valueFrom }) => {
      const key = valueFrom?.secretKeyRef?.key
      return [name, key === undefined ? this.map(value ?? '') : (this.secret[key] ?? '')] as const
    })
    return { PATH: searchPath, LC_ALL: 'C.UTF-8', HOME: this.directory, ...Object.fromEntries(entries), ...extra }
  }

  get args(): readonly string[] {
    return (this.#container.args ?? []).map((argument) => this.map(argument))
  }

  run(command: readonly string[], env: Readonly<Record<string, string>> = {}, input = ''): Promise<CommandResult> {
    const [file = '', ...args] = command
    return new Promise((resolve) => {
      const options = { ...this.#user, env: this.env(env), cwd: this.directory, timeout: COMMAND_TIMEOUT_MS }
      const child = execFile(file, args, options, (error, stdout, stderr) => {
        resolve({ code: error ? (typeof error.code === 'number' ? error.code : 255) : 0, stdout, stderr })
      })
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
    })
  }

  /** As `run`, but a failure is an error. */
  async must(command: readonly string[], env: Readonly<Record<string, string>> = {}, input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, env, input)
    if (code !== 0)
      throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}${stdout}${this.#log.slice(-2_000)}`)
    return stdout.trimEnd()
  }

  /** Runs a rendered probe as the kubelet does, and returns its exit code. */
  async probe(
    kind: 'startupProbe' | 'readinessProbe' | 'livenessProbe',
    env: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const probe: Probe | undefined = this.#container[kind]
    const command = (probe?.exec?.command ?? []).map((part) => this.map(part))
    return (await this.run(command, env)).code
  }

  start(command: readonly string[] = this.args, env: Readonly<Record<string, string>> = {}): void {
    const [file = '', ...args] = command
    const child = spawn(file, args, {
      ...this.#user,
      env: this.env(env),
      cwd: this.directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const append = (chunk: Buffer): void => {
      this.#log = (this.#log + chunk.toString()).slice(-20_000)
    }
    child.stdout.on('data', append)
    child.stderr.on('data', append)
    this.#process = child
  }

  /** Waits until `check` returns true; fails with the server's log if it ends before. */
  async until(check: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + START_TIMEOUT_MS
    while (!(await check())) {
      const { exitCode, signalCode } = this.#process ?? {}
      const hasEnded = (exitCode ?? null) !== null || (signalCode ?? null) !== null
      if (hasEnded || performance.now() > end) throw new Error(`The server is not as expected:\n${this.#log}`)
      await delay(50)
    }
  }

  /** Command lines of all processes of this machine that contain one of `texts`. */
  commandLinesWith(...texts: readonly string[]): readonly string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        } catch {
          return ''
        }
      })
      .filter((line) => texts.some((text) => line.includes(text)))
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#process
    this.#process = undefined
    if (!child) return null
    if (child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill(signal)
      await exited
    }
    return child.exitCode
  }

  async close(): Promise<void> {
    await this.stop('SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }
}
