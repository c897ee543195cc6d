import { Deque } from './deque.ts'
import { OrderedSlots, type Slot } from './ordered-slots.ts'
import type { Change } from '../types.ts'
import { type Tombstone, Version } from './version.ts'

/** A change with the versions that the view links to each other. */
export interface VersionChange extends Change {
  readonly previous: Version | undefined
  readonly current: Version | undefined
  readonly deleted: Tombstone | undefined
  /** How much it keeps in memory that is there for history only: the state before it. */
  readonly size: number
}

export interface Watcher {
  /** The newest revision it was told of. */
  seen: number
  readonly listener: (change: Change) => void
}

/** The visible state of one resource, with the history of each key as a chain from its newest version. */
export class Bucket {
  readonly history = new Deque<VersionChange>()
  readonly watchers = new Set<Watcher>()
  readonly #slots = new Map<string, Slot>()
  readonly #ordered = new OrderedSlots()
  readonly #counts = new Map<string, number>()
  #count = 0

  get(key: string): Version | undefined {
    const newest = this.#slots.get(key)?.newest
    return newest instanceof Version ? newest : undefined
  }

  /** How many objects, of one namespace if given. */
  count(namespace?: string): number {
    return namespace === undefined ? this.#count : (this.#counts.get(namespace) ?? 0)
  }

  /** Makes a change visible. */
  apply(change: VersionChange): void {
    const next = change.current ?? change.deleted
    if (!next) return
    const slot = this.#slots.get(change.key)
    if (next instanceof Version) next.older = slot?.newest
    this.#put(slot, next)
    this.history.push(change)
  }

  /** Takes a state that no history leads to. Returns the one it replaces. */
  restore(version: Version): Version | undefined {
    const slot = this.#slots.get(version.key)
    const replaced = slot?.newest
    this.#put(slot, version)
    return replaced instanceof Version ? replaced : undefined
  }

  /** Takes a deletion that no history leads to. Returns what it deletes. */
  restoreDeletion(key: string): Version | undefined {
    const replaced = this.get(key)
    if (replaced) this.#remove(key)
    return replaced
  }

  /**
   * Forgets the oldest change: what was before it can no longer be asked for. Adds to `superseded` the revisions that
   * hold nothing any more.
   */
  forgetOldest(superseded: number[]): void {
    const change = this.history.shift()
    if (!change) return
    const { previous, current, deleted, key } = change
    if (previous) superseded.push(previous.revision)
    // Nobody else needs them, unless they are on their way to somebody.
    previous?.fold()
    deleted?.fold()
    if (current) current.older = undefined
    if (!deleted) return
    superseded.push(deleted.revision)
    if (this.#slots.get(key)?.newest !== deleted) return
    this.#slots.delete(key)
    this.#ordered.remove(key)
  }

  /** The slots from `start` on, in order. */
  slotsFrom(start: string): Iterable<Slot> {
    return this.#ordered.from(start)
  }

  #put(slot: Slot | undefined, next: Version | Tombstone): void {
    const added = (next instanceof Version ? 1 : 0) - (slot?.newest instanceof Version ? 1 : 0)
    if (slot) slot.newest = next
    else {
      const created: Slot = { key: next.key, newest: next }
      this.#slots.set(next.key, created)
      this.#ordered.add(created)
    }
    if (added !== 0) this.#addCount(next.key, added)
  }

  #remove(key: string): void {
    this.#slots.delete(key)
    this.#ordered.remove(key)
    this.#addCount(key, -1)
  }

  #addCount(key: string, added: number): void {
    this.#count += added
    const slash = key.indexOf('/')
    if (slash < 0) return
    const namespace = key.slice(0, slash)
    const count = (this.#counts.get(namespace) ?? 0) + added
    if (count === 0) this.#counts.delete(namespace)
    else this.#counts.set(namespace, count)
  }
}
