import type { CallOptions, Kind, KubeApi, KubeObject, LiveRead, ObjectRef, PartialObjectMetadata } from '@tenure/kube'
import { isSameResource } from '@tenure/kube'
import type { Cache } from '@tenure/runtime'
import { STATUS_ANNOTATIONS } from '../../api/annotations.ts'
import type { Leased, LeaseContext } from './context.ts'
import { formatTime } from '../../api/time.ts'

/** With so many reads of one namespace under way, it is worth a look whether one list can answer them. */
const MANY_READS = 16
/** A list is made for so many ended leases, and if they are this part of the namespace. */
const FEWEST = 64
const SMALLEST_PART = 0.25
/** At most so many are taken from one list, and used for so many milliseconds. */
const MOST = 5_000
const USABLE_FOR = 10_000
/** How long not to look again after it was not worth it, in milliseconds. */
const PAUSE = 1_000

type Context = Pick<LeaseContext, 'api' | 'clock' | 'kind' | 'log' | 'settings' | 'permissions'>

interface Batch {
  /** Of an answer from just before the list, so that the list is not older. */
  readonly serverTime: number | undefined
  /** When it was asked for, on the monotonic clock. */
  readonly at: number
  /** By name, each to be used once: who reads again wants to know what changed. */
  readonly objects: Map<string, Leased>
}

interface Place {
  reads: number
  batch: Batch | undefined
  making: Promise<Batch | undefined> | undefined
  /** Not to look before, on the monotonic clock. */
  pausedUntil: number
}

/**
 * Live reads of objects that are to be deleted. When many leases of a namespace have ended, it is listed instead of read
 * object by object, at a fraction of the server's work. A list is as live as a read: it is asked for after the leases
 * ended, and whatever changes after it is kept by the resourceVersion that the deletion insists on.
 */
export class BatchedReads {
  readonly #context: Context
  readonly #cache: Cache<PartialObjectMetadata>
  readonly #places = new Map<string, Place>()

  constructor(context: Context, cache: Cache<PartialObjectMetadata>) {
    this.#context = context
    this.#cache = cache
  }

  async read(ref: ObjectRef, options: CallOptions): Promise<LiveRead<PartialObjectMetadata>> {
    const { api, kind, permissions } = this.#context
    const key = ref.namespace ?? ''
    const place = this.#places.get(key) ?? { reads: 0, batch: undefined, making: undefined, pausedUntil: 0 }
    this.#places.set(key, place)
    place.reads++
    try {
      const read = await this.#fromBatch(place, ref, options)
      return read ?? (await permissions.watch(kind, 'get', api.getLive(kind, ref, options)))
    } finally {
      place.reads--
      if (place.reads === 0 && !place.making && !this.#isUsable(place.batch)) this.#places.delete(key)
    }
  }

  async #fromBatch(
    place: Place,
    ref: ObjectRef,
    options: CallOptions,
  ): Promise<LiveRead<PartialObjectMetadata> | undefined> {
    if (!this.#isUsable(place.batch) && !place.making && this.#isWorthIt(place, ref.namespace)) {
      place.making = this.#list(ref, options)
    }
    if (place.making) {
      place.batch = await place.making
      place.making = undefined
    }
    const { batch } = place
    if (!batch || !this.#isUsable(batch)) return undefined
    const object = batch.objects.get(ref.name)
    batch.objects.delete(ref.name)
    return object && { object, serverTime: batch.serverTime }
  }

  #isUsable(batch: Batch | undefined): boolean {
    return batch !== undefined && batch.objects.size > 0 && this.#context.clock.monotonic() - batch.at < USABLE_FOR
  }

  #isWorthIt(place: Place, namespace: string | undefined): boolean {
    const now = this.#context.clock.monotonic()
    if (place.reads < MANY_READS || now < place.pausedUntil) return false
    const all = this.#cache.list(namespace)
    const ended = all.filter((object) => this.#hasEnded(object)).length
    place.pausedUntil = now + PAUSE
    return ended >= FEWEST && ended >= all.length * SMALLEST_PART
  }

  /** Never rejects: without a list, objects are read one by one. */
  async #list(ref: ObjectRef, options: CallOptions): Promise<Batch | undefined> {
    const { api, clock, kind, log } = this.#context
    const at = clock.monotonic()
    const objects = new Map<string, Leased>()
    try {
      const { serverTime } = await api.getLive(kind, ref, options)
      for await (const { items } of api.pages(kind, { namespace: ref.namespace, ...options })) {
        for (const item of items) if (this.#hasEnded(item)) objects.set(item.metadata.name, item)
        if (objects.size >= MOST) break
      }
      return { serverTime, at, objects }
    } catch (error) {
      log.debug('could not list what has ended', { namespace: ref.namespace, error })
      return undefined
    }
  }

  /** By the date on it, which sorts as text. */
  #hasEnded({ metadata }: Leased): boolean {
    const now = formatTime(this.#context.clock.now())
    return this.#context.settings.families.some(({ prefix }) => {
      const expireAt = metadata.annotations?.[prefix + STATUS_ANNOTATIONS.expireAt]
      return expireAt !== undefined && expireAt <= now
    })
  }
}

/** The same API, with live reads of the kind made by `reads`. Each right that is missing is noted for what it is. */
export function withReads(
  { api, kind, permissions }: Pick<Context, 'api' | 'kind' | 'permissions'>,
  reads: BatchedReads,
): KubeApi {
  const getLive = <T extends KubeObject>(of: Kind<T>, ref: ObjectRef, options: CallOptions = {}) =>
    isSameResource(of, kind) && of.representation === 'metadata'
      ? // Metadata of the kind asked for, by the comparison above.
        (reads.read(ref, options) as Promise<LiveRead<T>>)
      : api.getLive(of, ref, options)
  const remove: KubeApi['delete'] = (of, ref, options) => permissions.watch(of, 'delete', api.delete(of, ref, options))
  return new Proxy(api, {
    get(target, name) {
      if (name === 'getLive') return getLive
      if (name === 'delete') return remove
      const member: unknown = Reflect.get(target, name)
      // A client's methods reach for what is private to it.
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
