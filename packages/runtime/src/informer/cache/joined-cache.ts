import { keyOf, type KubeObject, type ObjectRef, refTo, type Stored } from '@tenure/kube'
import { type Cache, OWNER_UID_INDEX } from '../types.ts'

/** Two caches of one kind, with different selections, as one. An object that both have is shown as the first has it. */
export class JoinedCache<T extends KubeObject> implements Cache<T> {
  readonly #first: Cache<T>
  readonly #second: Cache<T>

  constructor(first: Cache<T>, second: Cache<T>) {
    this.#first = first
    this.#second = second
  }

  get(ref: ObjectRef): Stored<T> | undefined {
    return this.#first.get(ref) ?? this.#second.get(ref)
  }

  getByKey(key: string): Stored<T> | undefined {
    return this.#first.getByKey(key) ?? this.#second.getByKey(key)
  }

  list(namespace?: string): readonly Stored<T>[] {
    return this.#joined(this.#first.list(namespace), this.#second.list(namespace))
  }

  /** An index that the controller declared exists in the first cache alone. */
  byIndex(index: string, value: string): readonly Stored<T>[] {
    const found = this.#first.byIndex(index, value)
    return index === OWNER_UID_INDEX ? this.#joined(found, this.#second.byIndex(index, value)) : found
  }

  get size(): number {
    return this.list().length
  }

  #joined(first: readonly Stored<T>[], second: readonly Stored<T>[]): readonly Stored<T>[] {
    return [...first, ...second.filter((object) => this.#first.getByKey(keyOf(refTo(object))) === undefined)]
  }
}
