import type { Clock } from '@tenure/kube'

export interface ProgressOptions {
  readonly clock: Clock
  /** Prints a line for people. */
  readonly say: (line: string) => void
}

/** The width of the first column of the addresses. */
const NAME_WIDTH = 16

/** The output of a start: a line for each step that is done, then the addresses and the commands to try next. */
export class Progress {
  readonly #options: ProgressOptions
  readonly #startedAt: number
  readonly #addresses = new Map<string, string>()
  #isReady = false

  /** `startedAt` is a time of the clock's monotonic scale. Default: now. */
  constructor(options: ProgressOptions, startedAt = options.clock.monotonic()) {
    this.#options = options
    this.#startedAt = startedAt
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Prints a step that is done. Steps after `ready` are not part of the start. */
  done(step: string): void {
    if (!this.#isReady) this.#options.say(`  ✓ ${step.padEnd(54)} ${this.#elapsed()}`)
  }

  /** An address for the end of the start; at once if that is over, because it has changed then. */
  address(name: string, text: string): void {
    this.#addresses.set(name, text)
    if (this.#isReady) this.#options.say(row(name, text))
  }

  /** Prints the addresses in the order of `names`, and what to do next. */
  ready(names: readonly string[], standing: string, next: readonly string[]): void {
    this.#isReady = true
    const { say } = this.#options
    say('')
    for (const name of names) {
      const text = this.#addresses.get(name)
      if (text !== undefined) say(row(name, text))
    }
    say(row('Ready', `in ${this.#elapsed()}: ${standing}`))
    if (next.length > 0) say('')
    for (const line of next) say(line)
  }

  #elapsed(): string {
    return `${((this.#options.clock.monotonic() - this.#startedAt) / 1000).toFixed(1)} s`
  }
}

function row(name: string, text: string): string {
  return `${name.padEnd(NAME_WIDTH)}${text}`
}
