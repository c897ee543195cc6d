import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../cluster/free-ports.ts'

const root = path.resolve(import.meta.dirname, '../..')
export const SOON = { timeout: 90_000, interval: 50 }

/** Whether the documents' commands can be typed here at all: they are for bash, with curl. */
export const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)

/** A command that goes on, and all it has printed. */
export class Job {
  output = ''
  readonly #child: ChildProcess
  readonly exited: Promise<number | null>

  constructor(command: string, environment: Readonly<Record<string, string>>) {
    // A group of its own, so that npm and what it started end together.
    this.#child = spawn('bash', ['-c', command], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    // Not `exit`, which is the shell's: what it started still holds its output, and the data directory, until it is done.
    this.exited = new Promise((resolve) => this.#child.once('close', resolve))
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Sends a signal to everything the command started, and waits for its end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { pid } = this.#child
    if (pid !== undefined && this.isRunning) process.kill(-pid, signal)
    await this.exited
  }
}

/** A fresh data directory and free ports in place of the documents' ones, and a terminal to type their commands in. */
export class Terminal {
  readonly data = mkdtempSync(path.join(tmpdir(), 'tenure-seeds-'))
  readonly #ports = new Map<string, number>()
  readonly #jobs: Job[] = []

  /** The port that stands here for the document's `port`. */
  async port(port: number): Promise<number> {
    const known = this.#ports.get(String(port))
    if (known !== undefined) return known
    const [free = 0] = await freePorts(1)
    this.#ports.set(String(port), free)
    return free
  }

  /** Starts a command that goes on. `npm start` without a port gets the one that stands for 3000. */
  async start(command: string): Promise<Job> {
    const here = await this.#here(command)
    const job = new Job(here, {
      TENURE_DATA: this.data,
      ...(/\bPORT=/.test(here) ? {} : { PORT: String(await this.port(3000)) }),
    })
    this.#jobs.push(job)
    return job
  }

  /** Runs a command to its end and gives back what it printed. */
  async type(command: string): Promise<string> {
    const child = spawn('bash', ['-c', await this.#here(command)], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    await new Promise((resolve) => child.once('close', resolve))
    return output
  }

  /** What a command of curl is answered, as JSON. */
  async ask<T>(command: string): Promise<T> {
    const output = await this.type(command)
    try {
      return JSON.parse(output) as T
    } catch {
      throw new Error(`not JSON: ${output}`)
    }
  }

  /** `npm start` of the documents, once its port answers that it is ready. */
  async startTenure(command: string, port = 3000): Promise<Job> {
    const job = await this.start(command)
    const ready = `curl http://localhost:${port}/readyz`
    const end = performance.now() + SOON.timeout
    while (!(await this.type(ready)).includes('"status":"ready"')) {
      if (performance.now() > end || !job.isRunning) throw new Error(`${command} is not ready: ${job.output}`)
      await pause(SOON.interval)
    }
    return job
  }

  async close(): Promise<void> {
    for (const job of this.#jobs.splice(0).toReversed()) await job.end()
    rmSync(this.data, { recursive: true, force: true })
  }

  /** The command with the ports that are free here. */
  async #here(command: string): Promise<string> {
    let here = command
    for (const [, port] of command.matchAll(/(?:localhost:|PORT=)(\d{4})/g)) {
      here = here.replaceAll(`localhost:${port}`, `localhost:${await this.port(Number(port))}`)
      here = here.replaceAll(`PORT=${port}`, `PORT=${await this.port(Number(port))}`)
    }
    return here
  }
}
