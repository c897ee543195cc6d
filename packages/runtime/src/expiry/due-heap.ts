/** A key with its due time. */
export interface DueEntry {
  readonly key: string
  readonly due: number
}

/**
 * A binary heap of due times with an index by key: the next one in O(1), set and delete in O(log n). Two flat arrays
 * and one map, no object per entry: 100,000 entries are a few megabytes.
 */
export class DueHeap {
  readonly #keys: string[] = []
  readonly #dues: number[] = []
  readonly #positions = new Map<string, number>()

  get size(): number {
    return this.#keys.length
  }

  /** The entry with the earliest due time; undefined if there is none. */
  next(): DueEntry | undefined {
    const key = this.#keys[0]
    const due = this.#dues[0]
    return key === undefined || due === undefined ? undefined : { key, due }
  }

  get(key: string): number | undefined {
    const position = this.#positions.get(key)
    return position === undefined ? undefined : this.#dues[position]
  }

  /** Adds `key` or moves it. */
  set(key: string, due: number): void {
    const position = this.#positions.get(key)
    if (position === undefined) {
      this.#keys.push(key)
      this.#dues.push(due)
      this.#rise(this.#keys.length - 1, key, due)
    } else if (due < this.#due(position)) {
      this.#rise(position, key, due)
    } else {
      this.#sink(position, key, due)
    }
  }

  /** True if the key existed. */
  delete(key: string): boolean {
    const position = this.#positions.get(key)
    if (position === undefined) return false
    this.#positions.delete(key)
    const lastKey = this.#keys.pop()
    const lastDue = this.#dues.pop()
    if (lastKey === undefined || lastDue === undefined || lastKey === key) return true
    // The last entry fills the gap; it may belong further up or down.
    if (position > 0 && lastDue < this.#due((position - 1) >> 1)) this.#rise(position, lastKey, lastDue)
    else this.#sink(position, lastKey, lastDue)
    return true
  }

  clear(): void {
    this.#keys.length = 0
    this.#dues.length = 0
    this.#positions.clear()
  }

  #rise(from: number, key: string, due: number): void {
    let position = from
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (this.#due(parent) <= due) break
      this.#place(position, this.#key(parent), this.#due(parent))
      position = parent
    }
    this.#place(position, key, due)
  }

  #sink(from: number, key: string, due: number): void {
    let position = from
    const size = this.#keys.length
    for (;;) {
      let child = 2 * position + 1
      if (child >= size) break
      if (child + 1 < size && this.#due(child + 1) < this.#due(child)) child++
      if (this.#due(child) >= due) break
      this.#place(position, this.#key(child), this.#due(child))
      position = child
    }
    this.#place(position, key, due)
  }

  #place(position: number, key: string, due: number): void {
    this.#keys[position] = key
    this.#dues[position] = due
    this.#positions.set(key, position)
  }

  // Positions are always inside the arrays; the fallbacks only satisfy the type.
  #due(position: number): number {
    return this.#dues[position] ?? Infinity
  }

  #key(position: number): string {
    return this.#keys[position] ?? ''
  }
}
