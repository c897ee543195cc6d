import type { JsonObject } from '@tenure/kube/model'
import { deepFreeze } from '../informer/cache/transform.ts'
import { RequestError } from './responses.ts'

/** One change of one object. */
export interface MemoryChange {
  readonly revision: number
  /** `group/plural`. */
  readonly resource: string
  /** Undefined for a create. */
  readonly before: JsonObject | undefined
  /** Undefined for a delete. */
  readonly after: JsonObject | undefined
}

/** Objects of all kinds under one revision, with the history that watches resume from. Stored objects are frozen. */
export class MemoryStore {
  readonly #objects = new Map<string, Map<string, JsonObject>>()
  readonly #history: MemoryChange[] = []
  readonly #listeners = new Set<(change: MemoryChange) => void>()
  /** Starts at 1: in a request 0 stands for any state. */
  #revision = 1
  #compacted = 0

  get revision(): number {
    return this.#revision
  }

  get(resource: string, key: string): JsonObject | undefined {
    return this.#objects.get(resource)?.get(key)
  }

  /** Stores the object that `make` returns for the next revision. */
  put(resource: string, key: string, make: (revision: string) => JsonObject): JsonObject {
    const revision = ++this.#revision
    const objects = this.#objects.get(resource) ?? new Map<string, JsonObject>()
    this.#objects.set(resource, objects)
    const before = objects.get(key)
    const after = deepFreeze(make(String(revision)))
    objects.set(key, after)
    this.#record({ revision, resource, before, after })
    return after
  }

  remove(resource: string, key: string): void {
    const objects = this.#objects.get(resource)
    const before = objects?.get(key)
    if (!objects || !before) return
    objects.delete(key)
    this.#record({ revision: ++this.#revision, resource, before, after: undefined })
  }

  /** All objects of a resource in the order of their keys. */
  list(resource: string): readonly JsonObject[] {
    const objects = [...(this.#objects.get(resource) ?? [])]
    return objects.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  /** The changes of a resource after a revision. */
  since(resource: string, revision: number): readonly MemoryChange[] {
    if (revision < this.#compacted) {
      throw new RequestError(410, 'Expired', `too old resource version: ${revision} (${this.#compacted})`)
    }
    return this.#history.filter((change) => change.resource === resource && change.revision > revision)
  }

  onChange(listener: (change: MemoryChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Drops the history: watches from older revisions get 410. */
  compact(): void {
    this.#compacted = this.#revision
    this.#history.length = 0
  }

  #record(change: MemoryChange): void {
    this.#history.push(change)
    for (const listener of this.#listeners) listener(change)
  }
}
