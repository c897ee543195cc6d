/** Programs of these tests that run as processes of their own, and what they say. */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'

export const ROOT = path.resolve(import.meta.dirname, '../../..')

/** The machine's monotonic clock in milliseconds: the same for all its processes, and it does not stand still for one. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Monotonic. */
  readonly at: number
}

export interface ChildOptions {
  /** Default none. */
  readonly args?: readonly string[]
  /** Added to this process's own. */
  readonly env?: Readonly<Record<string, string>>
  /** A process group of its own, which signals then go to, as from a terminal. Default false. */
  readonly group?: boolean
}

/** A running process. Its standard input stays open for as long as this process lives. */
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

  /** All it has written so far, for messages of failed tests too. */
  get output(): string {
    return this.#stdout + this.#stderr
  }

  /** Its standard output, a JSON value a line. */
  lines(): readonly unknown[] {
    return this.#stdout
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as unknown)
  }

  /** Answers when, on the monotonic clock. */
  signal(name: NodeJS.Signals): number {
    const at = monotonic()
    if (!this.#hasEnded) process.kill(this.#group ? -this.pid : this.pid, name)
    return at
  }

  /** Ends it, come what may. */
  async end(): Promise<void> {
    if (!this.#hasEnded) this.signal('SIGKILL')
    await this.ended
  }
}

/** Runs a TypeScript program of this folder with a JSON value to go by. */
export function startProgram(name: string, settings: object, env: Readonly<Record<string, string>> = {}): Child {
  const program = path.join(import.meta.dirname, name)
  return new Child(process.execPath, { args: [program, JSON.stringify(settings)], env })
}
