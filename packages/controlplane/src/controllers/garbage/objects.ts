import { type Client, type Clock, type Kind, type KubeObject, metadataOf, type Random, type Stored } from '@tenure/kube'
import { CustomResourceDefinition } from '@tenure/kube/kinds'
import {
  type Informer,
  type InformerEvent,
  type Logger,
  type Metrics,
  OWNER_UID_INDEX,
  SharedInformers,
} from '@tenure/runtime'
import { referenceKey, type Served, servedResources, type ServedResource } from '../common/served-resources.ts'

export interface GarbageObjectsOptions {
  readonly api: Client
  readonly informers: SharedInformers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Kinds that others watch whole anyway: their caches serve here too. */
  readonly watchedWhole: readonly Kind[]
  readonly onEvent: (event: InformerEvent<KubeObject>, resource: ServedResource) => void
  /** What is served changed, and all of it is in the caches. */
  readonly onSynced: () => void
}

/** An object and where it is. */
export interface Known {
  readonly resource: ServedResource
  readonly namespace: string | undefined
  readonly name: string
}

interface Watched {
  readonly resource: ServedResource
  readonly informer: Informer<KubeObject>
  end(): void
}

/** Events are never owned by anything that matters, and there are many of them. */
const IGNORED = new Set(['events', 'events.events.k8s.io'])
/** Milliseconds after a change of a CRD until discovery is asked, once for many, and once more for a server that lags. */
const REDISCOVER_AFTER = [300, 3_000]

/**
 * The metadata of every object of every kind, and who owns what. Kinds come and go with their CRDs: each has an
 * informer of its own, which ends with the kind.
 */
export class GarbageObjects {
  readonly #options: GarbageObjectsOptions
  readonly #watched = new Map<string, Watched>()
  readonly #known = new Map<string, Known>()
  readonly #timers = new Set<{ cancel(): void }>()
  readonly #abort = new AbortController()
  #served: Served | undefined
  #refreshing: Promise<void> = Promise.resolve()

  constructor(options: GarbageObjectsOptions) {
    this.#options = options
  }

  start(signal: AbortSignal): void {
    const definitions = this.#options.informers.informer(CustomResourceDefinition)
    void this.#refresh()
    void this.#follow(definitions, signal).catch(() => undefined)
  }

  /** CRDs come, change and go: what is served then is read again. */
  async #follow(definitions: Informer<CustomResourceDefinition>, signal: AbortSignal): Promise<void> {
    await definitions.whenSynced(signal)
    let isFirst = true
    const end = definitions.subscribe(() => {
      if (!isFirst) for (const delay of REDISCOVER_AFTER) this.#schedule(delay)
    })
    isFirst = false
    this.#abort.signal.addEventListener('abort', end, { once: true })
  }

  stop(): void {
    this.#abort.abort(new Error('the garbage collector stops'))
    for (const timer of this.#timers) timer.cancel()
    for (const { end } of this.#watched.values()) end()
    this.#watched.clear()
  }

  /** Where the object with this uid is, if it is known to exist. */
  known(uid: string): Known | undefined {
    return this.#known.get(uid)
  }

  object(uid: string): Stored<KubeObject> | undefined {
    const known = this.#known.get(uid)
    if (!known) return undefined
    const found = this.#watched.get(known.resource.key)?.informer.cache.get(known)
    return found?.metadata.uid === uid ? found : undefined
  }

  /** The objects that refer to this uid as their owner. */
  dependentsOf(uid: string): readonly Stored<KubeObject>[] {
    const found: Stored<KubeObject>[] = []
    for (const { informer } of this.#watched.values()) found.push(...informer.cache.byIndex(OWNER_UID_INDEX, uid))
    return found
  }

  /** Every object that has an owner. */
  owned(): readonly Stored<KubeObject>[] {
    return [...this.#watched.values()].flatMap(({ informer }) =>
      informer.cache.list().filter(({ metadata }) => metadata.ownerReferences || metadata.deletionTimestamp),
    )
  }

  resourceFor(apiVersion: string, kind: string): ServedResource | undefined {
    return this.#served?.byReference.get(referenceKey(apiVersion, kind))
  }

  #schedule(delay: number): void {
    const timer = this.#options.clock.setTimer(delay, () => {
      this.#timers.delete(timer)
      void this.#refresh()
    })
    this.#timers.add(timer)
  }

  /** One at a time. Never rejects. */
  #refresh(): Promise<void> {
    this.#refreshing = this.#readAfter(this.#refreshing)
    return this.#refreshing
  }

  async #readAfter(previous: Promise<void>): Promise<void> {
    await previous
    if (this.#abort.signal.aborted) return
    try {
      await this.#read()
    } catch (error) {
      if (this.#abort.signal.aborted) return
      this.#options.log.warn('garbage collector could not read what is served, trying again', { error })
      this.#schedule(5_000)
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort
    const served = await servedResources(this.#options.api, signal)
    this.#served = served
    const current = new Set(served.resources.map(({ key }) => key))
    for (const [key, watched] of this.#watched) {
      // What a group that does not answer has is unknown, not gone.
      if (current.has(key) || served.failures.length > 0) continue
      watched.end()
      this.#watched.delete(key)
      for (const [uid, { resource }] of this.#known) if (resource.key === key) this.#known.delete(uid)
    }
    const added = served.resources.filter(({ key }) => !this.#watched.has(key) && !IGNORED.has(key))
    const begun = added.map((resource) => this.#watch(resource))
    for (const watched of begun) this.#watched.set(watched.resource.key, watched)
    await Promise.all(begun.map(({ informer }) => informer.whenSynced(signal)))
    for (const { key } of added) this.#subscribe(key)
    if (served.failures.length > 0) this.#schedule(30_000)
    this.#options.onSynced()
  }

  #watch(resource: ServedResource): Watched {
    const { api, clock, informers, log, metrics, random, watchedWhole } = this.#options
    const { kind } = resource
    const isWhole = watchedWhole.some((each) => each.plural === kind.plural && each.apiVersion === kind.apiVersion)
    if (isWhole) return { resource, informer: informers.informer(kind), end: () => undefined }
    const own = new AbortController()
    const apart = new SharedInformers({ api, clock, random, log, metrics })
    const informer = apart.informer(metadataOf(kind))
    apart.start(own.signal)
    return { resource, informer, end: () => own.abort(new Error('the kind is gone')) }
  }

  #subscribe(key: string): void {
    const watched = this.#watched.get(key)
    if (!watched) return
    const { informer, resource } = watched
    const unsubscribe = informer.subscribe((event) => {
      const { metadata } = event.object
      if (event.type === 'deleted') {
        if (this.#known.get(metadata.uid)?.resource.key === key) this.#known.delete(metadata.uid)
      } else if (event.type === 'added') {
        this.#known.set(metadata.uid, { resource, namespace: metadata.namespace, name: metadata.name })
      }
      this.#options.onEvent(event, resource)
    })
    this.#watched.set(key, {
      ...watched,
      end: () => {
        unsubscribe()
        watched.end()
      },
    })
  }
}
