import type { PageClock, PageTimer } from '../browser.ts'

const SECOND = 1_000

/** Calls its listeners at every full second. Without listeners it has no timer. */
export class Ticker {
  readonly #clock: PageClock
  readonly #listeners = new Set<(now: number) => void>()
  #timer: PageTimer | undefined

  constructor(clock: PageClock) {
    this.#clock = clock
  }

  subscribe(listener: (now: number) => void): () => void {
    this.#listeners.add(listener)
    this.#timer ??= this.#schedule()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#timer?.cancel()
      this.#timer = undefined
    }
  }

  #schedule(): PageTimer {
    return this.#clock.setTimer(SECOND - (this.#clock.now() % SECOND), () => {
      this.#timer = undefined
      const now = this.#clock.now()
      for (const listener of this.#listeners) listener(now)
      if (this.#listeners.size > 0) this.#timer ??= this.#schedule()
    })
  }
}
