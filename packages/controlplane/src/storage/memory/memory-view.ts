import { Bucket, type VersionChange, type Watcher } from './bucket.ts'
import { Deque } from './deque.ts'
import { RevisionCompacted, type Change, type RangeOptions, type StoredObject } from '../types.ts'
import { Tombstone, Version } from './version.ts'

/** An empty storage is at revision 1: a resourceVersion of 0 means "any" to clients. */
export const FIRST_REVISION = 1

/** A row of the log as read from disk. `json` is null for a deletion. */
export interface Row {
  readonly revision: number
  readonly resource: string
  readonly key: string
  readonly json: string | null
}

/** The visible state, its history, and the watches on it. */
export class MemoryView {
  readonly #buckets = new Map<string, Bucket>()
  readonly #history = new Deque<VersionChange>()
  readonly #onListenerError: (error: unknown, change: Change) => void
  #revision: number
  #oldest: number
  #historySize = 0

  /** A listener that throws is a bug of its owner: the error is reported and the other listeners receive the change. */
  constructor(onListenerError: (error: unknown, change: Change) => void, oldest = FIRST_REVISION) {
    this.#onListenerError = onListenerError
    this.#revision = oldest
    this.#oldest = oldest
  }

  get revision(): number {
    return this.#revision
  }

  /** The oldest revision whose state can be read. */
  get oldest(): number {
    return this.#oldest
  }

  /** Number of changes in the history. */
  get historyLength(): number {
    return this.#history.length
  }

  get(resource: string, key: string): Version | undefined {
    return this.#buckets.get(resource)?.get(key)
  }

  count(resource: string, namespace?: string): number {
    return this.#buckets.get(resource)?.count(namespace) ?? 0
  }

  resources(): readonly string[] {
    return [...this.#buckets].flatMap(([resource, bucket]) => (bucket.count() > 0 ? [resource] : []))
  }

  range(resource: string, { namespace, after, at = this.#revision }: RangeOptions = {}): Iterable<StoredObject> {
    if (at < this.#oldest) throw new RevisionCompacted(this.#oldest)
    const prefix = namespace === undefined ? '' : `${namespace}/`
    const start = after !== undefined && after >= prefix ? after : prefix
    return { [Symbol.iterator]: () => this.#walk(resource, { prefix, start, after, at }) }
  }

  // Every step reads the state at the same revision, so that an iteration may pause while others write.
  *#walk(
    resource: string,
    { prefix, start, after, at }: { prefix: string; start: string; after: string | undefined; at: number },
  ): Generator<StoredObject, void, undefined> {
    for (const slot of this.#buckets.get(resource)?.slotsFrom(start) ?? []) {
      if (!slot.key.startsWith(prefix)) return
      if (at < this.#oldest) throw new RevisionCompacted(this.#oldest)
      if (slot.key === after) continue
      let state: Version | Tombstone | undefined = slot.newest
      while (state && state.revision > at) state = state.older
      if (state instanceof Version) yield state
    }
  }

  watch(resource: string, from: number, listener: (change: Change) => void): () => void {
    if (from < this.#oldest) throw new RevisionCompacted(this.#oldest)
    const bucket = this.#bucket(resource)
    const watcher: Watcher = { delivered: from, listener }
    bucket.watchers.add(watcher)
    // A copy: the listener may cause history to be dropped while it is called.
    const missed = bucket.history.slice(bucket.history.countWhile(({ revision }) => revision <= from))
    for (const change of missed) this.#notify(watcher, change)
    return () => void bucket.watchers.delete(watcher)
  }

  /** Makes a change visible and calls the watch listeners. */
  apply(change: VersionChange): void {
    const bucket = this.#record(change)
    for (const watcher of bucket.watchers) this.#notify(watcher, change)
    change.previous?.fold()
  }

  /** Applies a row of the log; rows come in order of revisions. Returns the revisions that hold nothing any more. */
  restore({ revision, resource, key, json }: Row): readonly number[] {
    const bucket = this.#bucket(resource)
    if (revision <= this.#oldest) {
      const replaced = json === null ? bucket.restoreDeletion(key) : bucket.restore(Version.ofJson(key, revision, json))
      return [...(replaced ? [replaced.revision] : []), ...(json === null ? [revision] : [])]
    }
    const previous = bucket.get(key)
    const size = previous?.size ?? 0
    if (json !== null) {
      const current = Version.ofJson(key, revision, json)
      this.#record({ revision, resource, key, previous, current, deleted: undefined, size })
    } else {
      if (!previous) throw new Error(`revision ${revision} deletes ${resource} ${key}, which does not exist`)
      const deleted = new Tombstone(revision, previous)
      this.#record({ revision, resource, key, previous, current: undefined, deleted, size })
    }
    return []
  }

  /** Drops history before `revision`. Returns the revisions that hold nothing any more. */
  forget(revision: number): readonly number[] {
    const oldest = Math.min(revision, this.#revision)
    if (oldest <= this.#oldest) return []
    this.#oldest = oldest
    const superseded: number[] = []
    for (let change = this.#history.first; change && change.revision <= oldest; change = this.#history.first) {
      this.#history.shift()
      this.#historySize -= change.size
      this.#buckets.get(change.resource)?.forgetOldest(superseded)
    }
    return superseded
  }

  /** The revision after which `count` changes follow. */
  revisionBefore(count: number): number | undefined {
    return this.#history.at(this.#history.length - count - 1)?.revision
  }

  /** The oldest revision from which the history is at most this large. */
  revisionWithin(size: number): number {
    let revision = this.#oldest
    let excess = this.#historySize - size
    for (let index = 0; excess > 0; index++) {
      const change = this.#history.at(index)
      if (!change) break
      excess -= change.size
      revision = change.revision
    }
    return revision
  }

  /** Ends all watches. */
  close(): void {
    for (const bucket of this.#buckets.values()) bucket.watchers.clear()
  }

  #record(change: VersionChange): Bucket {
    const bucket = this.#bucket(change.resource)
    bucket.apply(change)
    this.#history.push(change)
    this.#historySize += change.size
    this.#revision = change.revision
    return bucket
  }

  #bucket(resource: string): Bucket {
    let bucket = this.#buckets.get(resource)
    if (!bucket) this.#buckets.set(resource, (bucket = new Bucket()))
    return bucket
  }

  #notify(watcher: Watcher, change: Change): void {
    if (change.revision <= watcher.delivered) return
    watcher.delivered = change.revision
    try {
      watcher.listener(change)
    } catch (error) {
      this.#onListenerError(error, change)
    }
  }
}
