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
  /** Told of what changed, after it has. */
  readonly publish: (events: readonly InformerEvent<T>[]) => void
  /** Told that `lastSyncResourceVersion` has moved, after what changed by that was published. */
  readonly progressed: () => void
}

/** A list on its way into the cache. Nobody sees it before it is committed. */
export interface Staging<T extends KubeObject> {
  readonly objects: ObjectTable<T>
  /** When it was asked for, on the monotonic clock. */
  readonly startedAt: number
}

/**
 * Decides what the store shows. Three sources bring states of objects (watch, lists, our own writes) and may be late;
 * at one place the higher resourceVersion is the newer state, whatever brought it.
 */
export class LiveCache<T extends KubeObject> implements WriteObserver {
  readonly #options: LiveCacheOptions<T>
  readonly #store: ObjectStore<T>
  readonly #transform: ObjectTransform<T>
  readonly #own = new OwnWrites()
  readonly #isSelected: (object: KubeObject) => boolean
  /** Whether the metadata alone does not tell what is selected. */
  readonly #selectsByBody: boolean
  /** Whether an object may leave the watch other than by its deletion. */
  readonly #isFiltered: boolean
  #lastSyncResourceVersion: string | undefined
  #listed = false

  constructor(options: LiveCacheOptions<T>) {
    this.#options = options
    this.#store = options.store
    this.#transform = options.transform
    this.#isSelected = selectionMatcher(options.selection)
    this.#selectsByBody = fieldTerms(options.selection).some((term) => !/^\s*metadata\./.test(term))
    this.#isFiltered = canBeLeft(options.selection)
  }

  /** How far the server's history is in the cache: watch on from here. Undefined before the first list. */
  get lastSyncResourceVersion(): string | undefined {
    return this.#lastSyncResourceVersion
  }

  /** How many of our writes the watch has not brought yet. */
  get unconfirmed(): number {
    return this.#own.size
  }

  // ---- the watch ----

  /** Takes in a batch of watch events. */
  apply(batch: readonly WatchEvent<T>[]): void {
    for (const event of batch) {
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          // Seen once it is in: if that fails, it comes again.
          this.#changed(event.object)
          this.#lastSyncResourceVersion = event.object.metadata.resourceVersion
          break
        case 'DELETED':
          this.#ended(event.object)
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

  #changed(brought: Stored<T>): void {
    const { uid, resourceVersion } = brought.metadata
    if (this.#own.size > 0 && this.#hides(brought)) return
    const shown = this.#store.at(brought)
    const order = shown ? compareResourceVersions(resourceVersion, shown.metadata.resourceVersion) : 1
    const isNews = order > 0 || (order === 0 && this.#own.isProvisional(uid))
    if (this.#own.size > 0) this.#own.confirm(uid, resourceVersion)
    if (isNews) this.#show(this.#transform.take(brought), shown)
  }

  #ended(brought: Stored<T>): void {
    const { uid, resourceVersion } = brought.metadata
    this.#own.ended(uid, resourceVersion, !this.#isFiltered)
    const shown = this.#store.at(brought)
    // Written by us after it left the selection, or made anew under the same name: this end is not that one's.
    if (!shown || compareResourceVersions(shown.metadata.resourceVersion, resourceVersion) > 0) return
    this.#hide(shown, shown.metadata.uid === uid ? this.#transform.take(brought) : shown)
  }

  // ---- lists ----

  stage(): Staging<T> {
    return { objects: new ObjectTable<T>(), startedAt: this.#now() }
  }

  /** Adds an item of the list, or an event of a streamed one. */
  add(staging: Staging<T>, object: Stored<T>, type: 'ADDED' | 'MODIFIED' | 'DELETED' = 'ADDED'): void {
    if (type === 'DELETED') staging.objects.remove(object.metadata.namespace, object.metadata.name)
    else staging.objects.set(this.#known(object) ?? this.#transform.take(object))
  }

  /** The cached object if it is the same state, so that a relist of what did not change costs no memory. */
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

  /** Whether a list is from before what the watch has already brought. */
  isStale(resourceVersion: string): boolean {
    return (
      this.#lastSyncResourceVersion !== undefined &&
      compareResourceVersions(resourceVersion, this.#lastSyncResourceVersion) < 0
    )
  }

  /**
   * Makes the cache equal to the list, but for our own writes from after it, at once for readers, and tells the
   * difference. A stale list, if it is committed all the same, counts in full: the server went back in time.
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

  /** There is nothing to compare with. */
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

  // ---- our own writes ----

  written(kind: Kind, object: Stored<KubeObject>): void {
    if (object.kind !== this.#options.kind.kind) return
    const { uid, resourceVersion } = object.metadata
    if (this.#own.size > 0 && this.#hides(object)) return
    const shown = this.#store.get(object.metadata)
    const known = shown?.metadata.resourceVersion ?? this.#lastSyncResourceVersion
    const order = known === undefined ? 1 : compareResourceVersions(resourceVersion, known)
    // What the watch has passed it has brought, and if it is not shown, it has also brought its end.
    const isPartial = kind.form === 'metadata' || kind.version !== this.#options.kind.version
    const completes = order === 0 && shown !== undefined && !isPartial && this.#own.isProvisional(uid)
    if (order <= 0 && !completes) return
    const isProvisional = isPartial && this.#options.kind.form === 'full'
    const isSelected = !(isPartial && this.#selectsByBody) && this.#isSelected(object)
    // Of an object that was not shown before, the metadata alone is not enough to show it.
    if (!isSelected || (isProvisional && shown?.metadata.uid !== uid)) {
      // If the watch brings this very state after all, it is to be shown: the server decides what is selected.
      this.#own.blind(keyOf(object.metadata), resourceVersion, true, this.#now())
      if (shown) this.#hide(shown, shown)
      return
    }
    const complete = isProvisional ? { ...shown, ...withoutBody(object) } : object
    this.#own.wrote(uid, resourceVersion, isProvisional)
    this.#show(this.#transform.copy(complete), shown)
  }

  /**
   * Without a uid, or with that of an object the cache did not show, what is shown under its name stays: it may be the
   * next object of that name, and the watch will tell.
   */
  deleted(_kind: Kind, ref: ObjectRef, uid: string | undefined): void {
    if (uid === undefined) return
    const shown = this.#store.get(ref)
    const version = shown?.metadata.uid === uid ? shown.metadata.resourceVersion : undefined
    this.#own.deleted(uid, version, this.#now())
    if (!shown || version === undefined) return
    // Nor may an object show up that had the name before it.
    this.#own.blind(keyOf(ref), version, false, this.#now())
    this.#hide(shown, shown)
  }

  // ---- what is shown ----

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

function canBeLeft(selection: Selection): boolean {
  return Boolean(selection.labelSelector) || fieldTerms(selection).some(mayChange)
}

function fieldTerms({ fieldSelector = '' }: Selection): readonly string[] {
  return fieldSelector.split(',').filter(Boolean)
}

/** Names do not change. */
function mayChange(term: string): boolean {
  return !/^\s*metadata\.name(space)?\s*=/.test(term)
}
