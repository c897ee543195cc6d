import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import { OPERATOR_ENVIRONMENT } from '../measurements.ts'

/** BENCH_CHECKOUT names another checkout whose operators are measured, to compare two versions under the same load. */
const CHECKOUT = process.env['BENCH_CHECKOUT'] ?? path.resolve(import.meta.dirname, '../..')
const MAIN = path.join(CHECKOUT, 'packages/tenure/src/main.ts')

/** An operator process, as `tenure <command>` runs it against a cluster; or the given program. */
export class OperatorProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #output = ''

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    options: readonly string[] = [],
    program: string = MAIN,
  ) {
    this.#child = spawn(process.execPath, [...options, program, ...args], {
      env: { ...process.env, ...OPERATOR_ENVIRONMENT, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.#exited = new Promise((resolve) => this.#child.once('exit', resolve))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Waits until `url` returns 200. It is asked every `interval` milliseconds, by default 100. */
  async ready(url: string, interval = 100): Promise<void> {
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`The operator exited with ${this.#child.exitCode}`)
      const status = await fetch(url).then(
        (response) => response.status,
        () => 0,
      )
      if (status === 200) return
      await pause(interval)
    }
  }

  /** Waits until the process has printed `text` to its standard output. */
  async printed(text: string): Promise<void> {
    while (!this.#output.includes(text)) {
      if (this.#child.exitCode !== null) throw new Error(`The process exited with ${this.#child.exitCode}`)
      await pause(5)
    }
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/**
 * Returns the number of writing requests, by the operator's own count. PUTs are left out: they only renew its Lease.
 */
export async function writesOf(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  let sum = 0
  for (const [, labels = '', value] of text.matchAll(/^rest_client_requests_total\{(.*)\} (\d+)$/gm)) {
    if (/method="(POST|PATCH|DELETE)"/.test(labels)) sum += Number(value)
  }
  return sum
}

/** Returns the value below which `share` of the values are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
