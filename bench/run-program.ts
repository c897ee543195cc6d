import { spawn } from 'node:child_process'
import type { Figures } from './rows.ts'

/** Longer than any measurement takes, in milliseconds: a program that hangs should not hang the others. */
const AT_MOST = 600_000

/**
 * Runs a program and reads the line of JSON that it prints. Without the authorities that this machine's owner has Node
 * trust beside its own: reading a large file of them takes every process 10 ms, and no image has it.
 */
export function runProgram(command: string, args: readonly string[]): Promise<Figures> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  return new Promise((resolve, reject) => {
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
