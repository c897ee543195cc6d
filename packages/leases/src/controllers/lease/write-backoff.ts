import type { Clock } from '@tenure/kube'

/** Writes of one object without a delay, each within the window after the one before. */
const MAX_UNDELAYED_WRITES = 8
const WRITE_WINDOW_MS = 60_000
const MIN_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
const MAX_TRACKED_OBJECTS = 10_000

/**
 * Slows down writes that another controller keeps reverting, such as one that copies or removes annotations. Without it
 * both would write as fast as the server allows.
 */
export class WriteBackoff {
  readonly #clock: Clock
  /** By key, least recently written first. */
  readonly #writes = new Map<string, { readonly count: number; readonly at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  written(key: string): void {
    const at = this.#clock.monotonic()
    const before = this.#writes.get(key)
    const count = before && at - before.at < WRITE_WINDOW_MS ? before.count + 1 : 1
    this.#writes.delete(key)
    this.#writes.set(key, { count, at })
    if (this.#writes.size <= MAX_TRACKED_OBJECTS) return
    for (const oldest of this.#writes.keys()) {
      this.#writes.delete(oldest)
      break
    }
  }

  forget(key: string): void {
    this.#writes.delete(key)
  }

  /** Milliseconds to wait before the next write. */
  delay(key: string): number {
    const last = this.#writes.get(key)
    if (!last || last.count < MAX_UNDELAYED_WRITES) return 0
    const delay = Math.min(MIN_DELAY_MS * 2 ** Math.min(last.count - MAX_UNDELAYED_WRITES, 10), MAX_DELAY_MS)
    return Math.max(last.at + delay - this.#clock.monotonic(), 0)
  }
}
