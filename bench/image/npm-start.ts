import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { cpuMs } from '../control-plane/processes.ts'
import { pause } from '../operators/operator-process.ts'
import type { Row } from '../rows.ts'
import { memoryMb, processTree } from './memory.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Milliseconds after ready until the process is at rest: first statuses are written, and V8 has optimized the start. */
const SETTLE_MS = 20_000
const REST_SECONDS = 30

/** `npm start` as a user types it: the first one creates the data, the second one finds them. */
export async function npmStartRows(say: (text: string) => void): Promise<readonly Row[]> {
  const data = mkdtempSync(path.join(tmpdir(), 'tenure-bench-start-'))
  try {
    const first = new NpmStart(data)
    const firstMs = await first.ready()
    await first.stop()
    say(`  the first start took ${firstMs.toFixed(0)} ms`)
    const second = new NpmStart(data)
    const secondMs = await second.ready()
    await pause(SETTLE_MS)
    const pids = processTree(second.pid)
    const memory = memoryMb(pids)
    const before = cpuMs(pids)
    await pause(REST_SECONDS * 1_000)
    const cpu = (cpuMs(pids) - before) / REST_SECONDS
    await second.stop()
    return [
      value('npm start: to all ready, first time', 'ms', firstMs, 3_000),
      value('npm start: to all ready, with data', 'ms', secondMs, 3_000),
      value(`npm start: memory of its ${pids.length} processes`, 'MB', memory, 450),
      value('npm start: CPU at rest, per second', 'ms', cpu, 10),
    ]
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

function value(what: string, unit: string, ours: number, limit: number): Row {
  return { what, unit, ours, peer: undefined, bound: { on: 'value', is: 'at most', limit } }
}

class NpmStart {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #startedAt = performance.now()
  #output = ''

  constructor(data: string) {
    this.#child = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { ...process.env, TENURE_DATA: data, PORT: '0', TENURE_KUBERNETES_PORT: '0', API_ADDR: '127.0.0.1:0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.#exited = new Promise((resolve) => this.#child.once('exit', resolve))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Milliseconds from `npm start` to the line that says that everything is ready. */
  async ready(): Promise<number> {
    while (!/^Ready /m.test(this.#output)) {
      if (this.#child.exitCode !== null) throw new Error(`npm start ended with ${this.#child.exitCode}`)
      await pause(5)
    }
    return performance.now() - this.#startedAt
  }

  async stop(): Promise<void> {
    const pids = processTree(this.pid)
    this.#child.kill('SIGTERM')
    await this.#exited
    // npm does not wait for its children.
    while (pids.some(isAlive)) await pause(50)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
