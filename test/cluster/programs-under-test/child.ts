/** Child processes of the tests and their output. */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'

export const ROOT = path.resolve(import.meta.dirname, '../../..')

/**
 * The machine's monotonic clock in milliseconds: shared by all processes, and it continues while a process is stopped.
 */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Monotonic milliseconds. */
  readonly at: number
}

export interface ChildOptions {
  /** Default: none. */
  readonly args?: readonly string[]
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Starts a process group, which then receives the signals, as in a terminal. Default false. */
  readonly group?: boolean
}

/** A running process. Its standard input stays open while this process lives. */
export class Child {
  readonly ended: Promise<Ended>
  readonly #process: ChildProcess
  readonly #group: boolean
  #stdout = ''
  #stderr = ''
  #hasEnded = false

  constructor(command: string, options: ChildOptions = {}) {
    this.#group = options.group ?? false
    this.#process = spawn(command, [...(options.args ?? [])], {
      cwd: ROOT,
      env: { ...process.env, ...options.env },
      stdio: 'pipe',
      detached: this.#group,
    })
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text))
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    this.ended = new Promise((resolve, reject) => {
      this.#process.once('error', reject)
      this.#process.once('close', (code, signal) => {
        this.#hasEnded = true
        resolve({ code, signal, at: monotonic() })
      })
    })
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** All output so far. */
  get output(): string {
    return this.#stdout + this.#stderr
  }

  /** Parses its standard output as one JSON value per line. */
  lines(): readonly unknown[] {
    return this.#stdout
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as unknown)
  }

  /** Sends a signal and returns the monotonic time of it. */
  signal(name: NodeJS.Signals): number {
    const at = monotonic()
    if (!this.#hasEnded) process.kill(this.#group ? -this.pid : this.pid, name)
    return at
  }

  /** Kills the process if necessary and waits for its end. */
  async end(): Promise<void> {
    if (!this.#hasEnded) this.signal('SIGKILL')
    await this.ended
  }
}

/** Runs a TypeScript program of this folder with a JSON argument. */
export function startProgram(name: string, settings: object, env: Readonly<Record<string, string>> = {}): Child {
  const program = path.join(import.meta.dirname, name)
  return new Child(process.execPath, { args: [program, JSON.stringify(settings)], env })
}
