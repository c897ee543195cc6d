import type { PartialObjectMetadata } from '@tenure/kube'
import type { Informer, OperatorQueue } from '@tenure/runtime'
import { resourceName } from '../../changes/lease-target.ts'
import { queueNames } from '../../api/queue-names.ts'

/** Objects of one kind, as metadata. */
export type LeaseCache = Informer<PartialObjectMetadata>

/** Told of a cache that was added or removed. */
export type LeaseCachesListener = (cache: LeaseCache, isAdded: boolean) => void

/** The caches of the lease controllers that run in this process, for lists of all leases. */
export class LeaseCaches {
  /** By resource: `deployments.apps`. */
  readonly #caches = new Map<string, LeaseCache>()
  readonly #listeners = new Set<LeaseCachesListener>()

  get(resource: string): LeaseCache | undefined {
    return this.#caches.get(resource)
  }

  values(): Iterable<LeaseCache> {
    return this.#caches.values()
  }

  /** The queues of the controllers that run. */
  queues(): readonly OperatorQueue[] {
    return [...this.#caches.values()].flatMap((cache) => {
      const { controller, warnings } = queueNames(cache.kind)
      return [{ name: controller, informers: [cache] }, { name: warnings }]
    })
  }

  /** Adds the cache of a controller that starts. Returns a function that removes it. */
  add(cache: LeaseCache): () => void {
    const resource = resourceName(cache.kind)
    this.#caches.set(resource, cache)
    this.#tell(cache, true)
    return () => {
      if (this.#caches.get(resource) !== cache) return
      this.#caches.delete(resource)
      this.#tell(cache, false)
    }
  }

  /** Returns a function that ends the calls. */
  onChange(listener: LeaseCachesListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #tell(cache: LeaseCache, isAdded: boolean): void {
    for (const listener of this.#listeners) listener(cache, isAdded)
  }
}
