import { type KubeObject, type ObjectRef, type Stored, TenureError } from '@tenure/kube'
import { IndexTable } from './index-table.ts'
import { ObjectTable } from './object-table.ts'
import { type Cache, type IndexFunction, OWNER_UID_INDEX } from '../types.ts'

interface Index<T extends KubeObject> {
  readonly valuesOf: IndexFunction<T>
  readonly table: IndexTable<Stored<T>>
}

/** The objects of a cache and its indexes. Independent of time and versions. */
export class ObjectStore<T extends KubeObject> implements Cache<T> {
  #objects = new ObjectTable<T>()
  readonly #indexes = new Map<string, Index<T>>()
  readonly #onIndexFailure: (index: string, error: unknown) => void

  /**
   * If an index function throws, the object is not indexed and the error is reported, so that one faulty function
   * affects nothing else.
   */
  constructor(onIndexFailure: (index: string, error: unknown) => void) {
    this.#onIndexFailure = onIndexFailure
    this.addIndex(OWNER_UID_INDEX, ownerUids)
  }

  get size(): number {
    return this.#objects.size
  }

  get(ref: ObjectRef): Stored<T> | undefined {
    return this.#objects.get(ref.namespace, ref.name)
  }

  getByKey(key: string): Stored<T> | undefined {
    const slash = key.indexOf('/')
    return slash < 0 ? this.#objects.get('', key) : this.#objects.get(key.slice(0, slash), key.slice(slash + 1))
  }

  list(namespace?: string): readonly Stored<T>[] {
    return this.#objects.list(namespace)
  }

  byIndex(index: string, value: string): readonly Stored<T>[] {
    const found = this.#indexes.get(index)
    if (found) return found.table.get(value)
    throw new TenureError(
      'TENURE_INDEX_UNKNOWN',
      `This cache has no index ${JSON.stringify(index)}: add it with addIndex first.`,
      { fate: 'bug' },
    )
  }

  /** Adding the same function under the same name again is allowed: informers are shared. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.#indexes.get(name)
    if (known?.valuesOf === valuesOf) return
    if (known) {
      throw new TenureError(
        'TENURE_INDEX_TAKEN',
        `This cache already has a different index ${JSON.stringify(name)}: caches are shared, so choose another name.`,
        { fate: 'bug' },
      )
    }
    const table = new IndexTable<Stored<T>>((object) => {
      try {
        const values: unknown = valuesOf(object)
        if (Array.isArray(values)) return values as readonly string[]
        throw new TypeError('An index function must return a list of strings.')
      } catch (error) {
        this.#onIndexFailure(name, error)
        return []
      }
    })
    for (const object of this.#objects) table.add(object)
    this.#indexes.set(name, { valuesOf, table })
  }

  /** The stored object with the namespace and name of `object`. */
  at(object: Stored<T>): Stored<T> | undefined {
    return this.#objects.at(object)
  }

  set(object: Stored<T>): void {
    const before = this.#objects.at(object)
    for (const { table } of this.#indexes.values()) {
      if (before) table.remove(before)
      table.add(object)
    }
    this.#objects.set(object)
  }

  /** Takes ownership of a whole table while the store is empty. */
  adopt(objects: ObjectTable<T>): void {
    this.#objects = objects
    for (const { table } of this.#indexes.values()) for (const object of objects) table.add(object)
  }

  remove(object: Stored<T>): void {
    const before = this.#objects.at(object)
    if (!before) return
    for (const { table } of this.#indexes.values()) table.remove(before)
    this.#objects.remove(object.metadata.namespace, object.metadata.name)
  }

  [Symbol.iterator](): Iterator<Stored<T>> {
    return this.#objects[Symbol.iterator]()
  }
}

const NONE: readonly string[] = []

function ownerUids(object: KubeObject): readonly string[] {
  return object.metadata?.ownerReferences?.map((owner) => owner.uid) ?? NONE
}
