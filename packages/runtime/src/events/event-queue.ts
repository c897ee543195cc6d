import type { Series } from './event-writer.ts'

/** Events to be written: warnings first, each type in order of arrival. */
export class EventQueue {
  readonly #warnings = new Set<Series>()
  readonly #others = new Set<Series>()

  get size(): number {
    return this.#warnings.size + this.#others.size
  }

  /** The event to write next. It stays queued until it is deleted. */
  get next(): Series | undefined {
    return firstOf(this.#warnings) ?? firstOf(this.#others)
  }

  /** The event to drop if the queue is full: the oldest, and a warning only if there is nothing else. */
  get nextToDrop(): Series | undefined {
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
