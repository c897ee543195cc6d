import type { KubeObject, Stored } from '@tenure/kube'

/**
 * Objects by namespace, then name. Two levels instead of one `namespace/name` key: the objects hold these strings
 * anyway, while ten thousand joined keys are a megabyte; and one namespace is found without an index.
 */
export class ObjectTable<T extends KubeObject> {
  readonly #namespaces = new Map<string, Map<string, Stored<T>>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(namespace: string | undefined, name: string): Stored<T> | undefined {
    return this.#namespaces.get(namespace ?? '')?.get(name)
  }

  /** The object with the namespace and name of `object`. */
  at(object: Stored<T>): Stored<T> | undefined {
    return this.get(object.metadata.namespace, object.metadata.name)
  }

  set(object: Stored<T>): void {
    const namespace = object.metadata.namespace ?? ''
    let names = this.#namespaces.get(namespace)
    if (!names) this.#namespaces.set(namespace, (names = new Map()))
    const before = names.size
    names.set(object.metadata.name, object)
    this.#size += names.size - before
  }

  remove(namespace: string | undefined, name: string): void {
    const names = this.#namespaces.get(namespace ?? '')
    if (!names?.delete(name)) return
    this.#size--
    if (names.size === 0) this.#namespaces.delete(namespace ?? '')
  }

  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly Stored<T>[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.values() ?? [])]
    const all: Stored<T>[] = []
    for (const names of this.#namespaces.values()) for (const object of names.values()) all.push(object)
    return all
  }

  /** Usually there is one namespace, which then needs no generator. */
  [Symbol.iterator](): Iterator<Stored<T>> {
    const [only, ...others] = this.#namespaces.values()
    return only && others.length === 0 ? only.values() : this.#all()
  }

  *#all(): Generator<Stored<T>> {
    for (const names of this.#namespaces.values()) yield* names.values()
  }
}
