import { Bucket, type VersionChange, type Watcher } from './bucket.ts'
import { Deque } from './deque.ts'
import { RevisionCompacted, type Change, type RangeOptions, type StoredObject } from '../types.ts'
import { Tombstone, Version } from './version.ts'

/** An empty storage is at revision 1: a resourceVersion of 0 means "any" to clients. */
export const FIRST_REVISION = 1

/** A line of the log, as it is read from disk. Null is a deletion. */
export interface Row {
  readonly revision: number
  readonly resource: string
  readonly key: string
  readonly json: string | null
}

/** What is visible: the newest state, the window of history behind it, and who watches. */
export class MemoryView {
  readonly #buckets = new Map<string, Bucket>()
  readonly #history = new Deque<VersionChange>()
  readonly #onListenerError: (error: unknown, change: Change) => void
  #revision: number
  #oldest: number
  #historySize = 0

  /** A listener that throws is a bug of its owner: it is reported, and the others hear of the change all the same. */
  constructor(onListenerError: (error: unknown, change: Change) => void, oldest = FIRST_REVISION) {
    this.#onListenerError = onListenerError
    this.#revision = oldest
    this.#oldest = oldest
  }

  get revision(): number {
    return this.#revision
  }

  /** The oldest revision whose state can be asked for. */
  get oldest(): number {
    return this.#oldest
  }

  /** How many changes are kept. */
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

  // Every step looks for the state at the same revision, so that a walk may be paused while others write.
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
    const watcher: Watcher = { seen: from, listener }
    bucket.watchers.add(watcher)
    // A copy: the listener may make us forget what it is about to be told.
    const missed = bucket.history.slice(bucket.history.countWhile(({ revision }) => revision <= from))
    for (const change of missed) this.#tell(watcher, change)
    return () => void bucket.watchers.delete(watcher)
  }

  /** Makes a change visible and tells who watches. */
  apply(change: VersionChange): void {
    const bucket = this.#record(change)
    for (const watcher of bucket.watchers) this.#tell(watcher, change)
    change.previous?.fold()
  }

  /** Reads a row of the log, in order of revisions. Returns the revisions that hold nothing any more. */
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
      if (!previous) throw new Error(`revision ${revision} deletes ${resource} ${key}, which is not there`)
      const deleted = new Tombstone(revision, previous)
      this.#record({ revision, resource, key, previous, current: undefined, deleted, size })
    }
    return []
  }

  /** Forgets history before `revision`. Returns the revisions that hold nothing any more. */
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

  /** The revision of the change after which `count` changes come. */
  revisionBefore(count: number): number | undefined {
    return this.#history.at(this.#history.length - count - 1)?.revision
  }

  /** The oldest revision from which on history is no larger than this. */
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

  #tell(watcher: Watcher, change: Change): void {
    if (change.revision <= watcher.seen) return
    watcher.seen = change.revision
    try {
      watcher.listener(change)
    } catch (error) {
      this.#onListenerError(error, change)
    }
  }
}
