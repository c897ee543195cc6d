import type { Entry } from './entry.ts'

/** Delayed keys, earliest due time on top. Entries store their index, so that any of them can be moved or removed. */
export class DelayHeap {
  readonly #items: Entry[] = []
  #order = 0

  get size(): number {
    return this.#items.length
  }

  get top(): Entry | undefined {
    return this.#items[0]
  }

  push(entry: Entry): void {
    entry.order = this.#order++
    this.#items.push(entry)
    this.#up(entry, this.#items.length - 1)
  }

  /** Restores the order after the `due` of an entry was moved forward. */
  advanced(entry: Entry): void {
    entry.order = this.#order++
    this.#up(entry, entry.heapIndex)
  }

  remove(entry: Entry): void {
    const index = entry.heapIndex
    const last = this.#items.pop()
    entry.heapIndex = -1
    if (last === undefined || last === entry) return
    // The last entry fills the gap; it may belong further up or down.
    this.#up(last, index)
    this.#down(last, last.heapIndex)
  }

  clear(): void {
    this.#items.length = 0
  }

  #up(entry: Entry, start: number): void {
    const items = this.#items
    let index = start
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = items[parentIndex]
      if (parent === undefined || !isBefore(entry, parent)) break
      items[index] = parent
      parent.heapIndex = index
      index = parentIndex
    }
    items[index] = entry
    entry.heapIndex = index
  }

  #down(entry: Entry, start: number): void {
    const items = this.#items
    let index = start
    for (;;) {
      const left = items[2 * index + 1]
      const right = items[2 * index + 2]
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || !isBefore(child, entry)) break
      const childIndex = child.heapIndex
      items[index] = child
      child.heapIndex = index
      index = childIndex
    }
    items[index] = entry
    entry.heapIndex = index
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order)
}
