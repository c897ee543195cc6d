/** A queue that is read by index; removing items at the front does not move the others. */
export class Deque<T> {
  #items: (T | undefined)[] = []
  #start = 0

  get length(): number {
    return this.#items.length - this.#start
  }

  get first(): T | undefined {
    return this.#items[this.#start]
  }

  get last(): T | undefined {
    return this.length > 0 ? this.#items.at(-1) : undefined
  }

  at(index: number): T | undefined {
    return this.#items[this.#start + index]
  }

  /** The items from `index` on. */
  slice(index: number): readonly T[] {
    return this.#items.slice(this.#start + index) as T[]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const first = this.#items[this.#start]
    this.#items[this.#start] = undefined
    this.#start++
    this.#releaseFront()
    return first
  }

  /** Removes and returns all items. */
  drain(): readonly T[] {
    const items = this.#items.slice(this.#start) as T[]
    this.#items = []
    this.#start = 0
    return items
  }

  /** Number of items at the front for which `isBefore` holds; they must precede all others. */
  countWhile(isBefore: (item: T) => boolean): number {
    let low = this.#start
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(this.#items[middle] as T)) low = middle + 1
      else high = middle
    }
    return low - this.#start
  }

  // Cutting the array at each shift would move all remaining items.
  #releaseFront(): void {
    if (this.#start < 64 || this.#start * 2 < this.#items.length) return
    this.#items = this.#items.slice(this.#start)
    this.#start = 0
  }
}
