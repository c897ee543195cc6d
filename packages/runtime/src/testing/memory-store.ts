import { Refusal } from './memory-answer.ts'
import type { Json } from './memory-json.ts'

/** One change of one object, as watches are told of it. */
export interface Change {
  readonly revision: number
  /** `group/plural`. */
  readonly resource: string
  readonly key: string
  /** Before; undefined for a create. */
  readonly before: Json | undefined
  /** After; undefined for a delete. */
  readonly after: Json | undefined
}

/** Objects of all kinds under one revision, with the history that watches resume from. Stored objects never change. */
export class MemoryStore {
  readonly #objects = new Map<string, Map<string, Json>>()
  readonly #history: Change[] = []
  readonly #listeners = new Set<(change: Change) => void>()
  /** Not 0, which in a request means any state at all. */
  #revision = 1
  #compacted = 0

  get revision(): number {
    return this.#revision
  }

  get(resource: string, key: string): Json | undefined {
    return this.#objects.get(resource)?.get(key)
  }

  /** Stores what `make` returns for the next revision. */
  put(resource: string, key: string, make: (revision: string) => Json): Json {
    const revision = ++this.#revision
    const objects = this.#objects.get(resource) ?? new Map<string, Json>()
    this.#objects.set(resource, objects)
    const before = objects.get(key)
    const after = deepFreeze(make(String(revision)))
    objects.set(key, after)
    this.#record({ revision, resource, key, before, after })
    return after
  }

  remove(resource: string, key: string): void {
    const objects = this.#objects.get(resource)
    const before = objects?.get(key)
    if (!objects || !before) return
    objects.delete(key)
    this.#record({ revision: ++this.#revision, resource, key, before, after: undefined })
  }

  /** All of a resource by key, in the order of keys, as of a revision (default: now). */
  list(resource: string, revision = this.#revision): ReadonlyMap<string, Json> {
    if (revision < this.#compacted) throw expired(revision, this.#compacted)
    const state = new Map(this.#objects.get(resource))
    for (const change of this.#history.toReversed()) {
      if (change.revision <= revision) break
      if (change.resource !== resource) continue
      if (change.before) state.set(change.key, change.before)
      else state.delete(change.key)
    }
    return new Map([...state].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** What happened to a resource after a revision. */
  since(resource: string, revision: number): readonly Change[] {
    if (revision < this.#compacted) throw expired(revision, this.#compacted)
    return this.#history.filter((change) => change.resource === resource && change.revision > revision)
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Forgets history: watches and lists from before are answered with 410. */
  compact(): void {
    this.#compacted = this.#revision
    this.#history.length = 0
  }

  #record(change: Change): void {
    this.#history.push(change)
    for (const listener of this.#listeners) listener(change)
  }
}

function expired(revision: number, compacted: number): Refusal {
  return new Refusal(410, 'Expired', `too old resource version: ${revision} (${compacted})`)
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const child of Object.values(value)) deepFreeze(child)
  }
  return value
}
