/** Starts the programs of a cluster so that none of them outlives it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { TenureError } from '@tenure/kube'

import { type ProcessIdentity, identify, isAlive, signal } from './process-identity.ts'
import type { WatchdogCommand } from './watchdog.ts'

const TAIL_LINES = 20
const POLL_MS = 25

export interface RunningProgram {
  readonly name: string
  readonly identity: ProcessIdentity
}

/** Owns a watchdog and starts programs under it. */
export class Launcher {
  readonly #logs: string
  readonly #watchdog: ChildProcess
  // A test worker whose runner was killed keeps running until its test ends, which may be never, so a lost channel to
  // the runner counts as its death. A process without such a channel never gets this event.
  readonly #abandon = (): void => {
    this.#watchdog.stdin?.end()
  }

  /** `logs` is the folder for the programs' output; `doomed`, if given, is deleted when the owner dies. */
  constructor(logs: string, doomed?: string) {
    this.#logs = logs
    this.#watchdog = spawn(process.execPath, [path.join(import.meta.dirname, 'watchdog.ts')], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: path.parse(process.execPath).root,
    })
    // A broken pipe means that the watchdog was killed. That is not an error, because stop() still works.
    this.#watchdog.stdin?.on('error', () => {})
    this.#watchdog.on('error', () => {})
    // Neither the watchdog nor the pipe may keep the owner alive.
    this.#watchdog.unref()
    const pipe = this.#watchdog.stdin as unknown as { unref?(): void } | null
    pipe?.unref?.()
    if (doomed !== undefined) this.#send({ remove: doomed })
    process.once('disconnect', this.#abandon)
  }

  async start(name: string, binary: string, args: readonly string[]): Promise<RunningProgram> {
    await mkdir(this.#logs, { recursive: true })
    const log = openSync(logFile(this.#logs, name), 'a', 0o600)
    try {
      const child = spawn(binary, args, {
        stdio: ['ignore', log, log],
        // A session of its own: Ctrl-C reaches the owner, which then stops the programs in order.
        detached: true,
        env: environment(),
        cwd: this.#logs,
      })
      // The watchdog is informed at once, so that an owner killed on the next line leaves no process behind.
      const identity = child.pid === undefined ? undefined : identify(child.pid)
      if (identity) this.#send({ watch: identity })
      child.unref()
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', reject)
      })
      if (!identity) throw await this.#endedEarly(name)
      return { name, identity }
    } catch (cause) {
      if (cause instanceof TenureError) throw cause
      throw new TenureError('TENURE_CLUSTER_PROGRAM_FAILED', `Could not start ${binary}.`, { cause })
    } finally {
      closeSync(log)
    }
  }

  /**
   * Waits until `condition` holds. Throws with the end of a log if one of the programs exits, or if the last one takes
   * too long.
   */
  async waitFor(
    programs: readonly RunningProgram[],
    what: string,
    condition: () => Promise<boolean>,
    limit = 90_000,
  ): Promise<void> {
    const deadline = performance.now() + limit
    while (!(await condition())) {
      const dead = programs.find(({ identity }) => !isAlive(identity))
      if (dead) throw await this.#endedEarly(dead.name)
      if (performance.now() > deadline) {
        throw new TenureError(
          'TENURE_CLUSTER_TIMEOUT',
          `Waited ${limit / 1_000} s in vain until ${what}.\n${await this.tail(programs.at(-1)?.name ?? '')}`,
        )
      }
      await delay(POLL_MS)
    }
  }

  async tail(name: string): Promise<string> {
    const text = await readFile(logFile(this.#logs, name), 'utf8').catch(() => '')
    const lines = text.trimEnd().split('\n').slice(-TAIL_LINES)
    return `The end of ${name}'s log:\n${lines.map((line) => `  ${line}`).join('\n')}`
  }

  /** Detaches the programs from this process and stops the watchdog. */
  release(): Promise<void> {
    process.off('disconnect', this.#abandon)
    return new Promise((resolve) => {
      if (this.#watchdog.exitCode !== null || this.#watchdog.signalCode !== null) return resolve()
      this.#watchdog.ref()
      this.#watchdog.once('exit', () => resolve())
      this.#send({ release: true })
    })
  }

  #send(command: WatchdogCommand): void {
    this.#watchdog.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  async #endedEarly(name: string): Promise<TenureError> {
    return new TenureError('TENURE_CLUSTER_PROGRAM_FAILED', `${name} exited.\n${await this.tail(name)}`)
  }
}

/** Signals a process and waits until it is gone. */
export async function end(identity: ProcessIdentity, name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  signal(identity, name)
  // A stopped process handles SIGTERM only after SIGCONT.
  signal(identity, 'SIGCONT')
  while (isAlive(identity)) await delay(POLL_MS)
}

function logFile(logs: string, name: string): string {
  return path.join(logs, `${name}.log`)
}

/** The programs communicate on loopback only, and the user's environment must not affect them. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env
  return { PATH, HOME, TMPDIR, LANG }
}
