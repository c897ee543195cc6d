import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../cluster/free-ports.ts'

const root = path.resolve(import.meta.dirname, '../..')
export const POLL_OPTIONS = { timeout: 90_000, interval: 50 }

/** The documents' commands need bash and curl. */
export const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)

/** A long-running command and its output. */
export class Job {
  output = ''
  readonly #child: ChildProcess
  readonly exited: Promise<number | null>

  constructor(command: string, environment: Readonly<Record<string, string>>) {
    // Starts a process group, so that npm and its children stop together.
    this.#child = spawn('bash', ['-c', command], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    // `close` rather than `exit`: the shell's children keep the output and the data directory open after the shell
    // exits.
    this.exited = new Promise((resolve) => this.#child.once('close', resolve))
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Sends a signal to the whole process group and waits for its end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { pid } = this.#child
    if (pid !== undefined && this.isRunning) process.kill(-pid, signal)
    await this.exited
  }
}

/**
 * A terminal for the documents' commands, with a temporary data directory and free ports in place of the documents'
 * ports.
 */
export class Terminal {
  readonly data = mkdtempSync(path.join(tmpdir(), 'tenure-seeds-'))
  readonly #ports = new Map<string, number>()
  readonly #jobs: Job[] = []

  /** Returns the free port that replaces the document's `port`. */
  async port(port: number): Promise<number> {
    const known = this.#ports.get(String(port))
    if (known !== undefined) return known
    const [free = 0] = await freePorts(1)
    this.#ports.set(String(port), free)
    return free
  }

  /** Starts a long-running command. `npm start` without PORT gets the replacement of 3000. */
  async start(command: string, environment: Readonly<Record<string, string>> = {}): Promise<Job> {
    const here = await this.#here(command)
    const job = new Job(here, {
      TENURE_DATA: this.data,
      ...(/\bPORT=/.test(here) ? {} : { PORT: String(await this.port(3000)) }),
      ...environment,
    })
    this.#jobs.push(job)
    return job
  }

  /** Runs a command to its end and returns its output. */
  async type(command: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = spawn('bash', ['-c', await this.#here(command)], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    await new Promise((resolve) => child.once('close', resolve))
    return output
  }

  /** Returns the JSON that a curl command prints. */
  async ask<T>(command: string): Promise<T> {
    const output = await this.type(command)
    try {
      return JSON.parse(output) as T
    } catch {
      throw new Error(`Not JSON: ${output}`)
    }
  }

  /** Runs the documents' `npm start` and waits until it is ready. */
  async startTenure(command: string, port = 3000, environment: Readonly<Record<string, string>> = {}): Promise<Job> {
    const job = await this.start(command, environment)
    const ready = `curl http://localhost:${port}/readyz`
    const end = performance.now() + POLL_OPTIONS.timeout
    while (!(await this.type(ready)).includes('"status":"ready"')) {
      if (performance.now() > end || !job.isRunning) throw new Error(`Not ready: ${command}: ${job.output}`)
      await pause(POLL_OPTIONS.interval)
    }
    return job
  }

  async close(): Promise<void> {
    for (const job of this.#jobs.splice(0).toReversed()) await job.end()
    rmSync(this.data, { recursive: true, force: true })
  }

  /** Replaces the documents' ports in a command. */
  async #here(command: string): Promise<string> {
    let here = command
    for (const [, port] of command.matchAll(/(?:localhost:|PORT=)(\d{4})/g)) {
      here = here.replaceAll(`localhost:${port}`, `localhost:${await this.port(Number(port))}`)
      here = here.replaceAll(`PORT=${port}`, `PORT=${await this.port(Number(port))}`)
    }
    return here
  }
}
