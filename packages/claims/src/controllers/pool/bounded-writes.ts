import { asError, type Clock } from '@tenure/kube'

type Write = () => Promise<void>

/** Carries out writes, a bounded number at once, in the order in which they were added. */
export class BoundedWrites {
  readonly #max: number
  readonly #waiting: Write[] = []
  readonly #idle = new Set<() => void>()
  #running = 0
  /** The first failure that `settled` has not reported. */
  #failure: Error | undefined

  constructor(max: number) {
    this.#max = max
  }

  add(write: Write): void {
    this.#waiting.push(write)
    if (this.#running < this.#max) void this.#work()
  }

  /** Resolves with true when all have ended, or with false after `limit` milliseconds. Rejects if one has failed. */
  async settled(clock: Clock, limit: number): Promise<boolean> {
    if (this.#running > 0) {
      const late = Promise.withResolvers<void>()
      const timer = clock.setTimer(limit, late.resolve)
      await Promise.race([this.idle(), late.promise])
      timer.cancel()
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure) throw failure
    return this.#running === 0
  }

  /** Resolves when no write is under way. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.add(resolve))
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    this.#running++
    for (let write = this.#waiting.shift(); write; write = this.#waiting.shift()) {
      try {
        await write()
      } catch (error) {
        this.#failure ??= asError(error)
      }
    }
    this.#running--
    if (this.#running > 0) return
    for (const notify of this.#idle) notify()
    this.#idle.clear()
  }
}
