import { spawn } from 'node:child_process'
import path from 'node:path'
import { OPERATOR_ENVIRONMENT } from './measurements.ts'
import type { Figures } from './rows.ts'

/** An image ships its compile cache as well; it saves 20 to 35 ms of CPU at the start. */
const COMPILED = path.join(import.meta.dirname, '../node_modules/.cache/tenure-bench/compiled')

/** Timeout of a program in milliseconds, longer than any measurement takes. */
const PROGRAM_TIMEOUT_MS = 600_000

/**
 * Runs a program and parses the line of JSON that it prints. Default input: none. NODE_EXTRA_CA_CERTS is removed: reading a large file takes
 * every process 10 ms, and images do not have it.
 */
export function runProgram(command: string, args: readonly string[], input = ''): Promise<Figures> {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
  return new Promise((resolve, reject) => {
    // Both sides count from here, because language runtimes define their start differently.
    const startedAt = performance.timeOrigin + performance.now()
    const env = {
      ...inherited,
      ...OPERATOR_ENVIRONMENT,
      NODE_COMPILE_CACHE: COMPILED,
      BENCH_STARTED_AT: String(startedAt),
    }
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env, timeout: PROGRAM_TIMEOUT_MS })
    child.stdin.on('error', reject).end(input)
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output) as Figures)
      else reject(new Error(`${command} ${args.join(' ')} exited with ${code ?? signal}`))
    })
  })
}

/** Returns the median of each figure, because the machine is shared and single runs are disturbed. */
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
