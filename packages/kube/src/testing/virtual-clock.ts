import type { Clock, Timer } from '../clock.ts'

interface Pending {
  readonly due: number
  readonly order: number
  readonly callback: () => void
}

/**
 * Time that moves only when told to. `advance` fires what is due, in order, and lets promises settle after each, so
 * that an hour of waiting runs in the time of the work itself. The wall clock can be made to jump.
 */
export class VirtualClock implements Clock {
  #monotonic = 0
  #wallOffset: number
  #order = 0
  readonly #pending = new Set<Pending>()

  /** `start` is the wall time, in milliseconds since 1970. Default 2026-01-01T00:00:00Z. */
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#wallOffset = start
  }

  now(): number {
    return this.#wallOffset + this.#monotonic
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimer(delay: number, callback: () => void): Timer {
    const pending: Pending = { due: this.#monotonic + Math.max(delay, 0), order: this.#order++, callback }
    this.#pending.add(pending)
    return { cancel: () => void this.#pending.delete(pending) }
  }

  /** How many timers are armed: zero after a clean stop. */
  get pending(): number {
    return this.#pending.size
  }

  /** Milliseconds until the next timer, undefined if there is none. */
  get untilNext(): number | undefined {
    const next = this.#next()
    return next && Math.max(next.due - this.#monotonic, 0)
  }

  /** Moves the wall clock by `milliseconds`, either way; timers and the monotonic clock do not notice. */
  jump(milliseconds: number): void {
    this.#wallOffset += milliseconds
  }

  /** Lets `milliseconds` pass. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds
    await settle()
    for (let next = this.#next(); next && next.due <= end; next = this.#next()) {
      this.#monotonic = Math.max(this.#monotonic, next.due)
      this.#pending.delete(next)
      next.callback()
      await settle()
    }
    this.#monotonic = end
    await settle()
  }

  /** Advances from timer to timer until `condition` holds; throws when `limit` (default an hour) of virtual time passed. */
  async advanceUntil(condition: () => boolean, limit = 3_600_000): Promise<void> {
    const end = this.#monotonic + limit
    await settle()
    while (!condition()) {
      const next = this.#next()
      if (!next || next.due > end) throw new Error(`condition not met within ${limit} ms of virtual time`)
      await this.advance(Math.max(next.due - this.#monotonic, 0))
    }
  }

  #next(): Pending | undefined {
    let next: Pending | undefined
    for (const pending of this.#pending) {
      if (!next || pending.due < next.due || (pending.due === next.due && pending.order < next.order)) next = pending
    }
    return next
  }
}

/** Lets every promise that can settle without I/O do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
