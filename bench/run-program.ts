import { spawn } from 'node:child_process'
import path from 'node:path'
import { OPERATOR_ENVIRONMENT } from './measurements.ts'
import type { Figures } from './rows.ts'

/** As in an image, which carries it along: 20 to 35 ms of CPU at the start are not spent on compiling again. */
const COMPILED = path.join(import.meta.dirname, '../node_modules/.cache/tenure-bench/compiled')

/** Longer than any measurement takes, in milliseconds: a program that hangs should not hang the others. */
const AT_MOST = 600_000

/**
 * Runs a program and reads the line of JSON that it prints. Without the authorities that this machine's owner has Node
 * trust beside its own: reading a large file of them takes every process 10 ms, and no image has it.
 */
export function runProgram(command: string, args: readonly string[]): Promise<Figures> {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
  return new Promise((resolve, reject) => {
    // Both sides count from here: a language's runtime has its own beginning, and it is not the same moment in two.
    const startedAt = performance.timeOrigin + performance.now()
    const env = {
      ...inherited,
      ...OPERATOR_ENVIRONMENT,
      NODE_COMPILE_CACHE: COMPILED,
      BENCH_STARTED_AT: String(startedAt),
    }
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env, timeout: AT_MOST })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output) as Figures)
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}`))
    })
  })
}

/** Of several runs, for each figure the median: the machine is shared, and one run in three is disturbed. */
export function medians(runs: readonly Figures[]): Figures {
  const first = runs[0] ?? {}
  return Object.fromEntries(
    Object.keys(first).map((name) => {
      const values = runs.map((run) => run[name])
      if (!values.every((value) => typeof value === 'number')) return [name, first[name]]
      const sorted = values.toSorted((a, b) => a - b)
      return [name, sorted[Math.floor(sorted.length / 2)]]
    }),
  )
}
