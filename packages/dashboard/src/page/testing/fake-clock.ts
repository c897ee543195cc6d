import type { PageClock, PageTimer } from '../browser.ts'

interface FakeTimer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that moves when a test says so. Frames are drawn by `advance`, too. */
export class FakeClock implements PageClock {
  #now: number
  readonly #timers = new Set<FakeTimer>()

  constructor(now = 1_000_000) {
    this.#now = now
  }

  /** Number of timers that wait. */
  get pending(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  setTimer(delay: number, callback: () => void): PageTimer {
    const timer = { at: this.#now + delay, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  nextFrame(callback: () => void): void {
    this.setTimer(0, callback)
  }

  /** Moves on, and lets what was called back finish its promises. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await settled()
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
      const [next] = due
      if (!next) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.callback()
      await settled()
    }
    this.#now = end
  }
}

/** Promises of streams and responses take several turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}
