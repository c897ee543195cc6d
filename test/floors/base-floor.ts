import type { Client, Clock, Random, Transport } from '@tenure/kube'
import { isNotFound } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import { runOperators } from '@tenure/runtime'
import type { Floor, FloorOperatorsOptions, Program, Running } from './floor.ts'

/** The behaviour that is the same on every Kubernetes API. */
export abstract class BaseFloor implements Floor {
  abstract readonly name: Floor['name']
  abstract readonly clock: Clock
  abstract readonly random: Random
  abstract readonly api: Client
  abstract readonly kubeconfig: string | undefined
  /** Cleanup functions, called in reverse order when the floor is left. */
  protected readonly undo: (() => Promise<unknown>)[] = []

  abstract transport(): Promise<Transport>
  abstract pass(milliseconds: number): Promise<void>
  protected abstract readonly interval: number
  /** How long `until` waits, in milliseconds of the floor's clock. */
  protected abstract readonly patience: number

  async namespace(prefix: string): Promise<string> {
    const { metadata } = await this.api.create(Namespace, { metadata: { generateName: `${prefix}-` } })
    this.undo.push(() =>
      this.api.delete(Namespace, { name: metadata.name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      }),
    )
    return metadata.name
  }

  async until<R>(what: string, look: () => R | Promise<R>): Promise<Exclude<R, undefined | null | false>> {
    const end = this.clock.monotonic() + this.patience
    for (;;) {
      const seen = await look()
      if (seen !== undefined && seen !== null && seen !== false) return seen as Exclude<R, undefined | null | false>
      if (this.clock.monotonic() > end)
        throw new Error(`${this.name}: Not reached within ${this.patience / 1_000} s: ${what}`)
      await this.pass(this.interval)
    }
  }

  async runOperators(options: FloorOperatorsOptions): Promise<Running> {
    const { clock, random } = this
    const transport = await this.transport()
    return this.run({ run: (signal) => runOperators({ ...options, transport, clock, random }, signal) })
  }

  run(program: Program): Running {
    const ended = new AbortController()
    const running = program.run(ended.signal)
    // `stop` returns the error; without this handler Node would report an unhandled rejection before.
    running.catch(() => undefined)
    let stopping: Promise<void> | undefined
    const stop = (): Promise<void> => {
      ended.abort(new Error('Stopped by the test'))
      return (stopping ??= this.whilePassing(running))
    }
    this.undo.push(stop)
    return { stop }
  }

  /** Advances time while a stop waits for timers, because virtual time does not advance by itself. */
  protected async whilePassing(stopping: Promise<void>): Promise<void> {
    const outcome = { isOver: false }
    const end = (): void => {
      outcome.isOver = true
    }
    stopping.then(end, end)
    while (!outcome.isOver) await this.pass(this.interval)
    await stopping
  }

  async leave(): Promise<void> {
    for (let step = this.undo.pop(); step; step = this.undo.pop()) await step()
  }
}
