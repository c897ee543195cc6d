import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { figure } from '../rows.ts'
import type { Figures } from '../rows.ts'
import { cpuMs } from './processes.ts'

/** The work of every client in one phase. */
export type Phase = 'prepare' | 'create' | 'get' | 'patch' | 'apply' | 'delete' | 'list'

export interface PhaseFigures {
  readonly wallMs: number
  /** CPU time of the server's processes. */
  readonly serverCpuMs: number
  /** CPU utilization of the busiest generator; near 1 the generator is the bottleneck. */
  readonly generatorLoad: number
  /** Bytes received, in the phases that count them. */
  readonly bytes: number
}

/** Load-generating client processes, started before the measurement; a phase begins in all of them at once. */
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
      if (!stdout) throw new Error('A generator has no output')
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
    if (!line || line.done) throw new Error(`A generator exited in the phase "${phase}"`)
    return JSON.parse(line.value) as Figures
  }
}
