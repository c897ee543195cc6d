import type { Clock } from '@tenure/kube'
import { Deque } from './deque.ts'
import type { MemoryView } from './memory-view.ts'

export interface HistoryLimits {
  /** At most this many changes are kept. Default 10,000. */
  readonly changes?: number
  /** Changes older than this many milliseconds, or a twentieth less, are forgotten at the next write. Default 10 minutes. */
  readonly age?: number
  /** At most so many characters of JSON that nothing but history needs, of what is on disk. Default 128 million. */
  readonly size?: number
}

/** Changes within this share of the age count as made at the time of the first of them. */
const MARKS = 20

interface Mark {
  readonly at: number
  /** The newest change that counts as made then. */
  revision: number
}

/** Says from which revision on history is kept. */
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
    // What was read from disk counts as new: informers of a host that died resume from it.
    this.#marks.push({ at: clock.monotonic(), revision })
  }

  /** The oldest revision of which history is to be kept, given what is visible now. */
  startOf(view: MemoryView): number {
    const now = this.#clock.monotonic()
    const last = this.#marks.last
    if (last && now - last.at < this.#age / MARKS) last.revision = view.revision
    else this.#marks.push({ at: now, revision: view.revision })
    let start = Math.max(view.revisionBefore(this.#changes) ?? view.oldest, view.revisionWithin(this.#size))
    for (let mark = this.#marks.first; mark && now - mark.at > this.#age; mark = this.#marks.first) {
      this.#marks.shift()
      start = Math.max(start, mark.revision)
    }
    return start
  }
}
