import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pause } from '../operators/operator-process.ts'
import type { Row } from '../rows.ts'
import { memoryMb, processTree, treeCpuMs } from './process-tree.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Milliseconds after ready until the process is at rest: first statuses are written, and V8 has optimized the start. */
const SETTLE_MS = 20_000
const REST_SECONDS = 30

/** `npm start` as a user types it: the first one creates the data, the second one finds them. */
export async function npmStartRows(say: (text: string) => void): Promise<readonly Row[]> {
  const data = mkdtempSync(path.join(tmpdir(), 'tenure-bench-start-'))
  try {
    const firstMs = await withNpmStart(data, ({ readyMs }) => readyMs)
    say(`  the first start took ${firstMs.toFixed(0)} ms`)
    const { readyMs, memory, count, cpu } = await withNpmStart(data, measureAtRest)
    return [
      value('npm start: to all ready, first time', 'ms', firstMs, 3_000),
      value('npm start: to all ready, with data', 'ms', readyMs, 3_000),
      value(`npm start: memory of its ${count} processes`, 'MB', memory, 450),
      value('npm start: CPU at rest, per second', 'ms', cpu, 10),
    ]
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

interface Started {
  readonly pid: number
  readonly readyMs: number
}

async function withNpmStart<R>(data: string, measure: (started: Started) => R | Promise<R>): Promise<R> {
  const start = new NpmStart(data)
  try {
    const readyMs = await start.ready()
    return await measure({ pid: start.pid, readyMs })
  } finally {
    await start.stop()
  }
}

async function measureAtRest({ pid, readyMs }: Started): Promise<{
  readonly readyMs: number
  readonly memory: number
  readonly count: number
  readonly cpu: number
}> {
  await pause(SETTLE_MS)
  const pids = processTree(pid)
  const memory = memoryMb(pids)
  const before = treeCpuMs(pid)
  await pause(REST_SECONDS * 1_000)
  return { readyMs, memory, count: pids.length, cpu: (treeCpuMs(pid) - before) / REST_SECONDS }
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
