import {
  type CallOptions,
  type Clock,
  type Kind,
  type KubeApi,
  type KubeObject,
  type LiveRead,
  type ObjectRef,
  type Stored,
} from '@tenure/kube'
import type { Cache } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'

/** Minimum number of concurrent reads of one namespace before a list may serve them. */
const MIN_READS_UNDER_WAY = 16
/** Minimum number of expired objects, and their minimum fraction of the namespace, for a list to pay off. */
const MIN_EXPIRED = 64
const MIN_EXPIRED_FRACTION = 0.25
/** Maximum number of objects used from one list, and milliseconds for which it is used. */
const MAX_LISTED = 5_000
const LIST_LIFETIME_MS = 10_000
/** Milliseconds before the next check whether a list pays off. */
const RECHECK_MS = 1_000

export interface BatchedReadsOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly clock: Clock
  readonly log: Logger
  readonly kind: Kind<T>
  readonly cache: Cache<T>
  /** True if an object is due to be read because it has expired by the clock of this process. */
  readonly isExpired: (object: Stored<T>) => boolean
}

interface Batch<T extends KubeObject> {
  /** Taken from a response just before the list, so that the list is not older. */
  readonly serverTime: number | undefined
  /** Monotonic time of the request. */
  readonly at: number
  /** By name. Each is used once: a second read must see later changes. */
  readonly objects: Map<string, Stored<T>>
}

interface NamespaceReads<T extends KubeObject> {
  reads: number
  batch: Batch<T> | undefined
  making: Promise<Batch<T> | undefined> | undefined
  /** Monotonic time of the next check whether a list pays off. */
  checkAt: number
}

/**
 * Live reads of objects that are about to be deleted. When many objects of a namespace have expired, one list answers
 * their reads at a fraction of the server's work. A list is as live as a read: it is requested after they expired, and
 * the deletion's resourceVersion precondition protects whatever changes after it.
 */
export class BatchedReads<T extends KubeObject> {
  readonly #options: BatchedReadsOptions<T>
  readonly #namespaces = new Map<string, NamespaceReads<T>>()

  constructor(options: BatchedReadsOptions<T>) {
    this.#options = options
  }

  async read(ref: ObjectRef, options: CallOptions): Promise<LiveRead<T>> {
    const { api, kind } = this.#options
    const key = ref.namespace ?? ''
    const namespace = this.#namespaces.get(key) ?? { reads: 0, batch: undefined, making: undefined, checkAt: 0 }
    this.#namespaces.set(key, namespace)
    namespace.reads++
    try {
      return (await this.#fromBatch(namespace, ref, options)) ?? (await api.getLive(kind, ref, options))
    } finally {
      namespace.reads--
      if (namespace.reads === 0 && !namespace.making && !this.#isUsable(namespace.batch)) this.#namespaces.delete(key)
    }
  }

  async #fromBatch(
    namespace: NamespaceReads<T>,
    ref: ObjectRef,
    options: CallOptions,
  ): Promise<LiveRead<T> | undefined> {
    if (!this.#isUsable(namespace.batch) && !namespace.making && this.#pays(namespace, ref.namespace)) {
      namespace.making = this.#list(ref, options)
    }
    if (namespace.making) {
      namespace.batch = await namespace.making
      namespace.making = undefined
    }
    const { batch } = namespace
    if (!batch || !this.#isUsable(batch)) return undefined
    const object = batch.objects.get(ref.name)
    batch.objects.delete(ref.name)
    return object && { object, serverTime: batch.serverTime }
  }

  #isUsable(batch: Batch<T> | undefined): boolean {
    return (
      batch !== undefined && batch.objects.size > 0 && this.#options.clock.monotonic() - batch.at < LIST_LIFETIME_MS
    )
  }

  #pays(namespace: NamespaceReads<T>, name: string | undefined): boolean {
    const { cache, clock, isExpired } = this.#options
    const now = clock.monotonic()
    if (namespace.reads < MIN_READS_UNDER_WAY || now < namespace.checkAt) return false
    const all = cache.list(name)
    const expired = all.filter((object) => isExpired(object)).length
    namespace.checkAt = now + RECHECK_MS
    return expired >= MIN_EXPIRED && expired >= all.length * MIN_EXPIRED_FRACTION
  }

  /** Never rejects: without a list, objects are read one by one. */
  async #list(ref: ObjectRef, options: CallOptions): Promise<Batch<T> | undefined> {
    const { api, clock, isExpired, kind, log } = this.#options
    const at = clock.monotonic()
    const objects = new Map<string, Stored<T>>()
    try {
      const { serverTime } = await api.getLive(kind, ref, options)
      for await (const { items } of api.pages(kind, { namespace: ref.namespace, ...options })) {
        for (const item of items) if (isExpired(item)) objects.set(item.metadata.name, item)
        if (objects.size >= MAX_LISTED) break
      }
      return { serverTime, at, objects }
    } catch (error) {
      log.debug('failed to list expired objects, reading them one by one', { namespace: ref.namespace, error })
      return undefined
    }
  }
}
