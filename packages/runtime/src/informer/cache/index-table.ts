/**
 * Objects by the values of one index. Most values have a single object, which is stored directly; only several need a
 * Set. Values without objects are removed.
 */
export class IndexTable<T extends object> {
  readonly #buckets = new Map<string, T | Set<T>>()
  readonly #valuesOf: (object: T) => readonly string[]

  /** `valuesOf` must always return the same values for the same object: removal calls it again. */
  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf
  }

  /** Number of values that have objects. */
  get size(): number {
    return this.#buckets.size
  }

  add(object: T): void {
    for (const value of this.#valuesOf(object)) {
      const bucket = this.#buckets.get(value)
      if (bucket === undefined) this.#buckets.set(value, object)
      else if (bucket instanceof Set) bucket.add(object)
      else if (bucket !== object) this.#buckets.set(value, new Set([bucket, object]))
    }
  }

  remove(object: T): void {
    for (const value of this.#valuesOf(object)) {
      const bucket = this.#buckets.get(value)
      if (bucket === object) this.#buckets.delete(value)
      else if (bucket instanceof Set && bucket.delete(object)) {
        const [only] = bucket
        if (bucket.size === 1 && only) this.#buckets.set(value, only)
      }
    }
  }

  get(value: string): readonly T[] {
    const bucket = this.#buckets.get(value)
    if (bucket === undefined) return []
    return bucket instanceof Set ? [...bucket] : [bucket]
  }
}
