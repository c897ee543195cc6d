import type { Clock, Timer } from '../clock.ts'

interface Pending {
  readonly due: number
  readonly order: number
  readonly callback: () => void
  isOver: boolean
}

/**
 * A clock that moves only by `advance`, which fires due timers in order and lets promises settle after each. An hour of
 * waiting takes no real time. The wall clock can jump.
 */
export class VirtualClock implements Clock {
  #monotonic = 0
  #wallOffset: number
  #order = 0
  /** A binary heap, soonest first. Cancelled timers stay until they reach the top. */
  readonly #heap: Pending[] = []
  #pending = 0

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
    const due = this.#monotonic + Math.max(delay, 0)
    const pending: Pending = { due, order: this.#order++, callback, isOver: false }
    this.#push(pending)
    this.#pending++
    return { cancel: () => this.#end(pending) }
  }

  /** Number of armed timers: zero after a clean stop. */
  get pending(): number {
    return this.#pending
  }

  /** Milliseconds until the next timer, undefined if there is none. */
  get untilNext(): number | undefined {
    const next = this.#next()
    return next && Math.max(next.due - this.#monotonic, 0)
  }

  /** Moves the wall clock by `milliseconds`, which may be negative. Timers and the monotonic clock are not affected. */
  jump(milliseconds: number): void {
    this.#wallOffset += milliseconds
  }

  /** Lets `milliseconds` pass. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds
    await settle()
    for (let next = this.#next(); next && next.due <= end; next = this.#next()) {
      this.#monotonic = Math.max(this.#monotonic, next.due)
      this.#end(next)
      next.callback()
      await settle()
    }
    this.#monotonic = end
    await settle()
  }

  /** Advances from timer to timer until `condition` holds. Throws after `limit` milliseconds (default one hour) of virtual time. */
  async advanceUntil(condition: () => boolean, limit = 3_600_000): Promise<void> {
    const end = this.#monotonic + limit
    await settle()
    while (!condition()) {
      const next = this.#next()
      if (!next || next.due > end) throw new Error(`Condition not met within ${limit} ms of virtual time`)
      await this.advance(Math.max(next.due - this.#monotonic, 0))
    }
  }

  #end(pending: Pending): void {
    if (pending.isOver) return
    pending.isOver = true
    this.#pending--
  }

  #next(): Pending | undefined {
    while (this.#heap[0]?.isOver) this.#pop()
    return this.#heap[0]
  }

  #push(pending: Pending): void {
    const heap = this.#heap
    let at = heap.push(pending) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (!parent || isSooner(parent, pending)) break
      heap[at] = parent
      at = above
    }
    heap[at] = pending
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = heap[2 * at + 1]
      const right = heap[2 * at + 2]
      const child = left && right && isSooner(right, left) ? right : left
      if (!child || isSooner(last, child)) break
      heap[at] = child
      at = child === right ? 2 * at + 2 : 2 * at + 1
    }
    heap[at] = last
  }
}

function isSooner(a: Pending, b: Pending): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order)
}

/** Lets promises settle that need no I/O. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
