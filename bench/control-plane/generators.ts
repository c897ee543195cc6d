import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { figure } from '../rows.ts'
import type { Figures } from '../rows.ts'
import { cpuMs } from './processes.ts'

/** What every client does in one phase. */
export type Phase = 'prepare' | 'create' | 'get' | 'patch' | 'apply' | 'delete' | 'list'

export interface PhaseFigures {
  readonly wallMs: number
  /** Of the server's processes. */
  readonly serverCpuMs: number
  /** The part of its time for which the busiest generator was on a processor: close to 1, it is the bottleneck. */
  readonly generatorLoad: number
  /** What came back, where the phase counts it. */
  readonly bytes: number
}

/** Processes with clients, started before anything is timed; each phase begins in all of them at once. */
export class Generators {
  readonly #children: readonly ChildProcess[]
  readonly #lines: readonly AsyncIterator<string>[]
  readonly #serverPids: readonly number[]

  constructor(bundle: string, serverPids: readonly number[], perProcess: readonly (readonly string[])[]) {
    this.#serverPids = serverPids
    this.#children = perProcess.map((args) =>
      spawn(process.execPath, [bundle, 'generate', ...args], { stdio: ['pipe', 'pipe', 'inherit'] }),
    )
    this.#lines = this.#children.map(({ stdout }) => {
      if (!stdout) throw new Error('a generator has no output')
      return createInterface({ input: stdout })[Symbol.asyncIterator]()
    })
  }

  async run(phase: Phase): Promise<PhaseFigures> {
    const cpuBefore = cpuMs(this.#serverPids)
    const began = performance.now()
    const answers = await Promise.all(this.#children.map((_, index) => this.#ask(index, phase)))
    const wallMs = performance.now() - began
    const loads = answers.map((answer) => figure(answer, 'cpuMs') / figure(answer, 'wallMs'))
    return {
      wallMs,
      serverCpuMs: cpuMs(this.#serverPids) - cpuBefore,
      generatorLoad: Math.max(...loads),
      bytes: answers.reduce((sum, answer) => sum + figure(answer, 'bytes'), 0),
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = once(child, 'exit')
        child.stdin?.end()
        await ended
      }),
    )
  }

  async #ask(index: number, phase: Phase): Promise<Figures> {
    this.#children[index]?.stdin?.write(`${phase}\n`)
    const line = await this.#lines[index]?.next()
    if (!line || line.done) throw new Error(`a generator ended in the phase "${phase}"`)
    return JSON.parse(line.value) as Figures
  }
}
