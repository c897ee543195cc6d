import type { Series } from './event-writer.ts'

/** Events that wait to be written: warnings before the rest, each sort in the order in which it came. */
export class EventQueue {
  readonly #warnings = new Set<Series>()
  readonly #others = new Set<Series>()

  get size(): number {
    return this.#warnings.size + this.#others.size
  }

  /** Whose turn it is. It stays until it is deleted. */
  get next(): Series | undefined {
    return firstOf(this.#warnings) ?? firstOf(this.#others)
  }

  /** Who is missed least if somebody has to go: the oldest, and a warning only if there is nothing else. */
  get leastMissed(): Series | undefined {
    return firstOf(this.#others) ?? firstOf(this.#warnings)
  }

  add(series: Series): void {
    this.#lineOf(series).add(series)
  }

  delete(series: Series): void {
    this.#lineOf(series).delete(series)
  }

  #lineOf(series: Series): Set<Series> {
    return series.event.type === 'Warning' ? this.#warnings : this.#others
  }
}

function firstOf<T>(set: ReadonlySet<T>): T | undefined {
  const [first] = set
  return first
}
