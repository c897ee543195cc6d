import { type Clock, TenureError, type Timer } from '@tenure/kube'
import { type DueEntry, DueHeap } from './due-heap.ts'

/**
 * Maximum milliseconds between checks of the wall clock: timers run on the monotonic clock and do not notice when the
 * wall clock jumps forward. This keeps lateness below a second.
 */
const MAX_SLEEP_MS = 900

export interface DueTimesOptions {
  readonly clock: Clock
  /** Called when a key is due, oldest first, once per `set`. Must not throw. */
  readonly onDue: (key: string) => void
  /** Called each time before due times are compared with the wall clock, at least once a second while a key waits. Default: none. */
  readonly onWake?: () => void
}

/**
 * Calls back when wall time reaches the due time of a key: never early, even if the wall clock jumps back, and at most a
 * second late, even if it jumps forward. One timer serves all keys.
 */
export class DueTimes {
  readonly #clock: Clock
  readonly #onDue: (key: string) => void
  readonly #onWake: (() => void) | undefined
  readonly #waiting = new DueHeap()
  /** Keys that were called back and not set to another time since, with their due times. */
  readonly #called = new Map<string, number>()
  #timer: Timer | undefined
  #isRunning = false

  constructor(options: DueTimesOptions) {
    this.#clock = options.clock
    this.#onDue = options.onDue
    this.#onWake = options.onWake
  }

  /** Number of keys that have a due time, passed or not. */
  get size(): number {
    return this.#waiting.size + this.#called.size
  }

  /** Makes `key` due at `due`, in milliseconds since 1970. A key that was called back for that time is not called again. */
  set(key: string, due: number): void {
    if (Number.isNaN(due)) {
      throw new TenureError('TENURE_EXPIRY_DUE_INVALID', `The due time of ${key} is not a number.`, { fate: 'bug' })
    }
    if (this.#called.size > 0) {
      if (this.#called.get(key) === due) return
      this.#called.delete(key)
    }
    this.#waiting.set(key, due)
    if (this.#isRunning && this.#waiting.next()?.key === key) this.#wake()
  }

  /** Makes `key` due at `due` even if it was called back for that time: the wall clock jumped back since. */
  rearm(key: string, due: number): void {
    this.#called.delete(key)
    this.set(key, due)
  }

  /** Whether `key` was called back and not set to another time since. */
  wasCalled(key: string): boolean {
    return this.#called.has(key)
  }

  delete(key: string): void {
    this.#called.delete(key)
    this.#waiting.delete(key)
  }

  /** The earliest due time, also of a key that was called back. */
  next(): DueEntry | undefined {
    let first = this.#waiting.next()
    for (const [key, due] of this.#called) if (!first || due < first.due) first = { key, due }
    return first
  }

  start(): void {
    this.#isRunning = true
    this.#wake()
  }

  /** Stops calling back. Due times stay. */
  stop(): void {
    this.#isRunning = false
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #wake(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#onWake?.()
    const now = this.#clock.now()
    let next = this.#waiting.next()
    for (; next && next.due <= now; next = this.#waiting.next()) {
      this.#waiting.delete(next.key)
      this.#called.set(next.key, next.due)
      this.#onDue(next.key)
    }
    if (next) this.#timer = this.#clock.setTimer(Math.min(next.due - now, MAX_SLEEP_MS), () => this.#wake())
  }
}
