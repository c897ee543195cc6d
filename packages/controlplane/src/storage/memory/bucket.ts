import { Deque } from './deque.ts'
import { OrderedSlots, type Slot } from './ordered-slots.ts'
import type { Change } from '../types.ts'
import { type Tombstone, Version } from './version.ts'

/** A change with the versions that the view links to each other. */
export interface VersionChange extends Change {
  readonly previous: Version | undefined
  readonly current: Version | undefined
  readonly deleted: Tombstone | undefined
  /** Characters of JSON that only history keeps in memory: the state before the change. */
  readonly size: number
}

export interface Watcher {
  /** The newest revision delivered to it. */
  delivered: number
  readonly listener: (change: Change) => void
}

/** The visible state of one resource. The history of each key is a linked list from its newest version. */
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

  /** Number of objects, of one namespace if given. */
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

  /** Adds a state without history. Returns the state it replaces. */
  restore(version: Version): Version | undefined {
    const slot = this.#slots.get(version.key)
    const replaced = slot?.newest
    this.#put(slot, version)
    return replaced instanceof Version ? replaced : undefined
  }

  /** Adds a deletion without history. Returns the deleted state. */
  restoreDeletion(key: string): Version | undefined {
    const replaced = this.get(key)
    if (replaced) this.#remove(key)
    return replaced
  }

  /**
   * Drops the oldest change: the state before it can no longer be read. Adds to `superseded` the revisions that hold
   * nothing any more.
   */
  forgetOldest(superseded: number[]): void {
    const change = this.history.shift()
    if (!change) return
    const { previous, current, deleted, key } = change
    if (previous) superseded.push(previous.revision)
    // Watches that still send these versions keep them.
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
