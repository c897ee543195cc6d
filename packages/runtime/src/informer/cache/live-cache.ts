import {
  type Clock,
  compareResourceVersions,
  keyOf,
  type Kind,
  type KubeObject,
  type ObjectRef,
  type Selection,
  selectionMatcher,
  type Stored,
  type WatchEvent,
  type WriteObserver,
} from '@tenure/kube'
import type { ObjectTransform } from './transform.ts'
import type { ObjectStore } from './object-store.ts'
import { ObjectTable } from './object-table.ts'
import { OwnWrites } from './own-writes.ts'
import type { InformerEvent } from '../types.ts'

export interface LiveCacheOptions<T extends KubeObject> {
  readonly kind: Kind<T>
  readonly selection: Selection
  readonly store: ObjectStore<T>
  readonly transform: ObjectTransform<T>
  readonly clock: Clock
  /** Called with changes after they are in the cache. */
  readonly publish: (events: readonly InformerEvent<T>[]) => void
  /** Called when `lastSyncResourceVersion` changed, after the corresponding changes were published. */
  readonly progressed: () => void
}

/** A list that is being read. It is not visible before it is committed. */
export interface Staging<T extends KubeObject> {
  readonly objects: ObjectTable<T>
  /** Monotonic time at which the list was requested. */
  readonly startedAt: number
}

/**
 * Decides which state of an object the store shows. Watch, lists and own writes deliver states and may be late; the
 * higher resourceVersion is always the newer state.
 */
export class LiveCache<T extends KubeObject> implements WriteObserver {
  readonly #options: LiveCacheOptions<T>
  readonly #store: ObjectStore<T>
  readonly #transform: ObjectTransform<T>
  readonly #own = new OwnWrites()
  readonly #isSelected: (object: KubeObject) => boolean
  /** True if the metadata alone does not determine whether an object is selected. */
  readonly #selectsByBody: boolean
  /** True if an object may leave the watch without being deleted. */
  readonly #isFiltered: boolean
  #lastSyncResourceVersion: string | undefined
  #listed = false

  constructor(options: LiveCacheOptions<T>) {
    this.#options = options
    this.#store = options.store
    this.#transform = options.transform
    this.#isSelected = selectionMatcher(options.selection)
    this.#selectsByBody = fieldTerms(options.selection).some((term) => !/^\s*metadata\./.test(term))
    this.#isFiltered = isSelectionMutable(options.selection)
  }

  /**
   * The resourceVersion up to which the cache is complete, and from which to watch. Undefined before the first list.
   */
  get lastSyncResourceVersion(): string | undefined {
    return this.#lastSyncResourceVersion
  }

  /** Number of own writes that the watch has not delivered yet. */
  get unconfirmed(): number {
    return this.#own.size
  }

  // ---- watch ----

  /** Applies a batch of watch events. */
  apply(batch: readonly WatchEvent<T>[]): void {
    for (const event of batch) {
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          // The version advances only after the event is applied: if that fails, the event comes again.
          this.#changedByWatch(event.object)
          this.#lastSyncResourceVersion = event.object.metadata.resourceVersion
          break
        case 'DELETED':
          this.#deletedByWatch(event.object)
          this.#lastSyncResourceVersion = event.object.metadata.resourceVersion
          break
        case 'BOOKMARK':
          this.#lastSyncResourceVersion = event.resourceVersion
          break
      }
    }
    if (this.#own.size > 0 && this.#lastSyncResourceVersion !== undefined)
      this.#own.passed(this.#lastSyncResourceVersion, this.#now())
    this.#options.progressed()
  }

  #changedByWatch(received: Stored<T>): void {
    const { uid, resourceVersion } = received.metadata
    if (this.#own.size > 0 && this.#hides(received)) return
    const shown = this.#store.at(received)
    const order = shown ? compareResourceVersions(resourceVersion, shown.metadata.resourceVersion) : 1
    const isNewer = order > 0 || (order === 0 && this.#own.isProvisional(uid))
    if (this.#own.size > 0) this.#own.confirm(uid, resourceVersion)
    if (isNewer) this.#show(this.#transform.inPlace(received), shown)
  }

  #deletedByWatch(received: Stored<T>): void {
    const { uid, resourceVersion } = received.metadata
    this.#own.ended(uid, resourceVersion, !this.#isFiltered)
    const shown = this.#store.at(received)
    // An own write after the object left the selection, or a new object of the same name: this deletion is older.
    if (!shown || compareResourceVersions(shown.metadata.resourceVersion, resourceVersion) > 0) return
    this.#hide(shown, shown.metadata.uid === uid ? this.#transform.inPlace(received) : shown)
  }

  // ---- lists ----

  stage(): Staging<T> {
    return { objects: new ObjectTable<T>(), startedAt: this.#now() }
  }

  /** Adds an item of the list, or an event of a streaming list. */
  add(staging: Staging<T>, object: Stored<T>, type: 'ADDED' | 'MODIFIED' | 'DELETED' = 'ADDED'): void {
    if (type === 'DELETED') staging.objects.remove(object.metadata.namespace, object.metadata.name)
    else staging.objects.set(this.#known(object) ?? this.#transform.inPlace(object))
  }

  /** The cached object if it has the same version, so that relisting unchanged objects costs no memory. */
  #known(object: Stored<T>): Stored<T> | undefined {
    if (this.#store.size === 0) return undefined
    const shown = this.#store.at(object)
    const isSame =
      shown?.metadata.resourceVersion === object.metadata.resourceVersion &&
      shown.metadata.uid === object.metadata.uid &&
      !this.#own.isProvisional(shown.metadata.uid)
    return isSame ? shown : undefined
  }

  #hides({ metadata }: Stored<KubeObject>): boolean {
    return this.#own.hides(keyOf(metadata), metadata.uid, metadata.resourceVersion)
  }

  /** True if a list is older than what the watch has already delivered. */
  isStale(resourceVersion: string): boolean {
    return (
      this.#lastSyncResourceVersion !== undefined &&
      compareResourceVersions(resourceVersion, this.#lastSyncResourceVersion) < 0
    )
  }

  /**
   * Makes the cache equal to the list, except for newer own writes, and publishes the difference. A stale list that is
   * committed nevertheless counts in full: the server was restored from a backup.
   */
  commit(staging: Staging<T>, resourceVersion: string): void {
    if (this.isStale(resourceVersion)) this.#own.clear()
    const events: InformerEvent<T>[] = []
    const stillThere = new Set<string>()
    if (this.#store.size === 0 && this.#own.size === 0) this.#showAll(staging, events)
    else this.#showDifference(staging, resourceVersion, events, stillThere)
    this.#lastSyncResourceVersion = resourceVersion
    this.#listed = true
    if (this.#own.size > 0) {
      const { startedAt } = staging
      this.#own.listed({ resourceVersion, startedAt, stillThere, final: !this.#isFiltered }, this.#now())
    }
    this.#options.publish(events)
    this.#options.progressed()
  }

  /** Commits the first list, where there is nothing to compare with. */
  #showAll({ objects }: Staging<T>, events: InformerEvent<T>[]): void {
    this.#store.adopt(objects)
    for (const object of objects) events.push({ type: 'added', object, initial: !this.#listed })
  }

  #showDifference(
    staging: Staging<T>,
    resourceVersion: string,
    events: InformerEvent<T>[],
    stillThere: Set<string>,
  ): void {
    const keeps = (shown: Stored<T>): boolean => this.#own.isNewerThan(shown.metadata.uid, resourceVersion)
    for (const shown of this.#store) {
      if (staging.objects.at(shown) || keeps(shown)) continue
      this.#store.remove(shown)
      events.push({ type: 'deleted', object: shown })
    }
    for (const object of staging.objects) {
      const shown = this.#store.at(object)
      if (shown === object || (shown && keeps(shown))) continue
      if (this.#own.size > 0 && this.#hides(object)) {
        stillThere.add(object.metadata.uid)
        if (!shown) continue
        this.#store.remove(shown)
        events.push({ type: 'deleted', object: shown })
        continue
      }
      this.#store.set(object)
      pushChange(events, object, shown, !this.#listed)
    }
  }

  // ---- own writes ----

  written(kind: Kind, object: Stored<KubeObject>): void {
    if (object.kind !== this.#options.kind.kind) return
    const { uid, resourceVersion } = object.metadata
    if (this.#own.size > 0 && this.#hides(object)) return
    const shown = this.#store.get(object.metadata)
    const known = shown?.metadata.resourceVersion ?? this.#lastSyncResourceVersion
    const order = known === undefined ? 1 : compareResourceVersions(resourceVersion, known)
    // States up to the watch's version have been delivered; if they are not shown, so has their deletion.
    const isPartial = kind.representation === 'metadata' || kind.version !== this.#options.kind.version
    const completes = order === 0 && shown !== undefined && !isPartial && this.#own.isProvisional(uid)
    if (order <= 0 && !completes) return
    const isProvisional = isPartial && this.#options.kind.representation === 'full'
    const isSelected = !(isPartial && this.#selectsByBody) && this.#isSelected(object)
    // The metadata alone is not enough to show an object that was not shown before.
    if (!isSelected || (isProvisional && shown?.metadata.uid !== uid)) {
      // If the watch delivers this state after all, it is shown: the server decides what is selected.
      this.#own.suppress(keyOf(object.metadata), resourceVersion, true, this.#now())
      if (shown) this.#hide(shown, shown)
      return
    }
    const complete = isProvisional ? { ...shown, ...withoutBody(object) } : object
    this.#own.wrote(uid, resourceVersion, isProvisional)
    this.#show(this.#transform.copy(complete), shown)
  }

  /**
   * Without a uid, or with the uid of an object that is not shown, the object shown under this name stays: it may be
   * its successor, and the watch will tell.
   */
  deleted(_kind: Kind, ref: ObjectRef, uid: string | undefined): void {
    if (uid === undefined) return
    const shown = this.#store.get(ref)
    const version = shown?.metadata.uid === uid ? shown.metadata.resourceVersion : undefined
    this.#own.deleted(uid, version, this.#now())
    if (!shown || version === undefined) return
    // Earlier objects of this name must not reappear either.
    this.#own.suppress(keyOf(ref), version, false, this.#now())
    this.#hide(shown, shown)
  }

  // ---- visible state ----

  #show(object: Stored<T>, shown: Stored<T> | undefined): void {
    this.#store.set(object)
    const events: InformerEvent<T>[] = []
    pushChange(events, object, shown, false)
    this.#options.publish(events)
  }

  #hide(shown: Stored<T>, last: Stored<T>): void {
    this.#store.remove(shown)
    this.#options.publish([{ type: 'deleted', object: last }])
  }

  #now(): number {
    return this.#options.clock.monotonic()
  }
}

function pushChange<T extends KubeObject>(
  events: InformerEvent<T>[],
  object: Stored<T>,
  old: Stored<T> | undefined,
  initial: boolean,
): void {
  if (old?.metadata.uid === object.metadata.uid) {
    events.push({ type: 'modified', object, old })
    return
  }
  if (old) events.push({ type: 'deleted', object: old })
  events.push({ type: 'added', object, initial })
}

function withoutBody({ apiVersion, kind, metadata }: Stored<KubeObject>): Stored<KubeObject> {
  return { apiVersion, kind, metadata }
}

function isSelectionMutable(selection: Selection): boolean {
  return Boolean(selection.labelSelector) || fieldTerms(selection).some(mayChange)
}

function fieldTerms({ fieldSelector = '' }: Selection): readonly string[] {
  return fieldSelector.split(',').filter(Boolean)
}

/** Names are immutable. */
function mayChange(term: string): boolean {
  return !/^\s*metadata\.name(space)?\s*=/.test(term)
}
