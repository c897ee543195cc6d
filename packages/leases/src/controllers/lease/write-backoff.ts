import type { Clock } from '@tenure/kube'

/** So many writes of one object, each within a minute of the one before, are nothing to think about. */
const FEW = 8
const APART = 60_000
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000
/** Of so many objects the last writes are remembered. */
const MOST = 10_000

/**
 * Somebody may take back whatever we write, at once and every time: a controller that copies annotations, or one that
 * wants none. Then we write less and less often, instead of as fast as the server can take it.
 */
export class WriteBackoff {
  readonly #clock: Clock
  /** By object, oldest first. */
  readonly #writes = new Map<string, { readonly count: number; readonly at: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It was written. */
  wrote(key: string): void {
    const at = this.#clock.monotonic()
    const before = this.#writes.get(key)
    const count = before && at - before.at < APART ? before.count + 1 : 1
    this.#writes.delete(key)
    this.#writes.set(key, { count, at })
    if (this.#writes.size <= MOST) return
    for (const oldest of this.#writes.keys()) {
      this.#writes.delete(oldest)
      break
    }
  }

  forget(key: string): void {
    this.#writes.delete(key)
  }

  /** How many milliseconds to wait before it is written again. */
  pause(key: string): number {
    const last = this.#writes.get(key)
    if (!last || last.count < FEW) return 0
    const pause = Math.min(FIRST_PAUSE * 2 ** Math.min(last.count - FEW, 10), LONGEST_PAUSE)
    return Math.max(last.at + pause - this.#clock.monotonic(), 0)
  }
}
