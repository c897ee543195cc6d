import type { Clock } from '@tenure/kube'
import { Deque } from './deque.ts'
import type { MemoryView } from './memory-view.ts'

export interface HistoryLimits {
  /** Maximum number of changes. Default 10,000. */
  readonly changes?: number
  /** Changes older than this many milliseconds, or a twentieth less, are dropped at the next write. Default 10 minutes. */
  readonly age?: number
  /** Maximum characters of JSON on disk that only history needs. Default 128 million. */
  readonly size?: number
}

/** The age is measured in this many steps: changes within one step count as made at its start. */
const AGE_STEPS = 20

interface Mark {
  readonly at: number
  /** The newest change that counts as made at that time. */
  revision: number
}

/** Computes the oldest revision to keep in the history. */
export class HistoryWindow {
  readonly #clock: Clock
  readonly #changes: number
  readonly #age: number
  readonly #size: number
  readonly #marks = new Deque<Mark>()

  constructor(clock: Clock, { changes = 10_000, age = 600_000, size = 128_000_000 }: HistoryLimits, revision: number) {
    this.#clock = clock
    this.#changes = changes
    this.#age = age
    this.#size = size
    // Changes read from disk count as new: informers resume from them after the host has died.
    this.#marks.push({ at: clock.monotonic(), revision })
  }

  /** The oldest revision to keep, given the visible state. */
  startOf(view: MemoryView): number {
    const now = this.#clock.monotonic()
    const last = this.#marks.last
    if (last && now - last.at < this.#age / AGE_STEPS) last.revision = view.revision
    else this.#marks.push({ at: now, revision: view.revision })
    let start = Math.max(view.revisionBefore(this.#changes) ?? view.oldest, view.revisionWithin(this.#size))
    for (let mark = this.#marks.first; mark && now - mark.at > this.#age; mark = this.#marks.first) {
      this.#marks.shift()
      start = Math.max(start, mark.revision)
    }
    return start
  }
}
