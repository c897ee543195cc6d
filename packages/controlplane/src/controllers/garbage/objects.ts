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
import { append } from '../../model/append.ts'
import { referenceKey, type ServedResources, servedResources, type ServedResource } from '../common/served-resources.ts'

export interface GarbageObjectsOptions {
  readonly api: Client
  readonly informers: SharedInformers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Kinds whose informers are shared with other controllers. */
  readonly sharedKinds: readonly Kind[]
  readonly onEvent: (event: InformerEvent<KubeObject>, resource: ServedResource) => void
  /** Called after discovery changed and all caches are synced. */
  readonly onSynced: () => void
}

/** The location of an object. */
export interface ObjectLocation {
  readonly resource: ServedResource
  readonly namespace: string | undefined
  readonly name: string
}

interface Watched {
  readonly resource: ServedResource
  readonly informer: Informer<KubeObject>
  end(): void
}

/** Events have no meaningful owners and are numerous. */
const IGNORED = new Set(['events', 'events.events.k8s.io'])
/** Milliseconds from a change of a CRD to rediscovery: once for a batch of changes, and again for a server that lags. */
const REDISCOVERY_DELAYS_MS = [300, 3_000]

/**
 * Caches the metadata of all objects of all kinds and indexes them by owner. Each kind has its own informer, which stops
 * when the kind is no longer served.
 */
export class GarbageObjects {
  readonly #options: GarbageObjectsOptions
  readonly #watched = new Map<string, Watched>()
  readonly #locations = new Map<string, ObjectLocation>()
  readonly #timers = new Set<{ cancel(): void }>()
  readonly #abort = new AbortController()
  #served: ServedResources | undefined
  #refreshing: Promise<void> = Promise.resolve()

  constructor(options: GarbageObjectsOptions) {
    this.#options = options
  }

  start(signal: AbortSignal): void {
    const definitions = this.#options.informers.informer(CustomResourceDefinition)
    void this.#refresh()
    void this.#withoutFinishedJobs(definitions, signal).catch(() => undefined)
  }

  /** Rediscovers resources when CRDs change. */
  async #withoutFinishedJobs(definitions: Informer<CustomResourceDefinition>, signal: AbortSignal): Promise<void> {
    await definitions.whenSynced(signal)
    let isFirst = true
    const end = definitions.subscribe(() => {
      if (!isFirst) for (const delay of REDISCOVERY_DELAYS_MS) this.#schedule(delay)
    })
    isFirst = false
    this.#abort.signal.addEventListener('abort', end, { once: true })
  }

  stop(): void {
    this.#abort.abort(new Error('The garbage collector is stopping'))
    for (const timer of this.#timers) timer.cancel()
    for (const { end } of this.#watched.values()) end()
    this.#watched.clear()
  }

  /** The location of the object with this uid. */
  locate(uid: string): ObjectLocation | undefined {
    return this.#locations.get(uid)
  }

  object(uid: string): Stored<KubeObject> | undefined {
    const location = this.#locations.get(uid)
    if (!location) return undefined
    const found = this.#watched.get(location.resource.key)?.informer.cache.get(location)
    return found?.metadata.uid === uid ? found : undefined
  }

  dependentsOf(uid: string): readonly Stored<KubeObject>[] {
    const found: Stored<KubeObject>[] = []
    for (const { informer } of this.#watched.values()) append(found, informer.cache.byIndex(OWNER_UID_INDEX, uid))
    return found
  }

  /** All objects with owners or in deletion. */
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

  /** Refreshes run one at a time and never reject. */
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
      this.#options.log.warn('discovery failed, retrying', { controller: 'garbage-collector', error })
      this.#schedule(5_000)
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort
    const served = await servedResources(this.#options.api, signal)
    this.#served = served
    const current = new Set(served.resources.map(({ key }) => key))
    for (const [key, watched] of this.#watched) {
      // Resources of a failing API group are unknown, not gone.
      if (current.has(key) || served.failures.length > 0) continue
      watched.end()
      this.#watched.delete(key)
      for (const [uid, { resource }] of this.#locations) if (resource.key === key) this.#locations.delete(uid)
    }
    const added = served.resources.filter(({ key }) => !this.#watched.has(key) && !IGNORED.has(key))
    const started = added.map((resource) => this.#watch(resource))
    for (const watched of started) this.#watched.set(watched.resource.key, watched)
    await Promise.all(started.map(({ informer }) => informer.whenSynced(signal)))
    for (const { key } of added) this.#subscribe(key)
    if (served.failures.length > 0) this.#schedule(30_000)
    this.#options.onSynced()
  }

  #watch(resource: ServedResource): Watched {
    const { api, clock, informers, log, metrics, random, sharedKinds } = this.#options
    const { kind } = resource
    const isShared = sharedKinds.some((each) => each.plural === kind.plural && each.apiVersion === kind.apiVersion)
    if (isShared) return { resource, informer: informers.informer(kind), end: () => undefined }
    const own = new AbortController()
    const separate = new SharedInformers({ api, clock, random, log, metrics })
    const informer = separate.informer(metadataOf(kind))
    separate.start(own.signal)
    return { resource, informer, end: () => own.abort(new Error('The kind is no longer served')) }
  }

  #subscribe(key: string): void {
    const watched = this.#watched.get(key)
    if (!watched) return
    const { informer, resource } = watched
    const unsubscribe = informer.subscribe((event) => {
      const { metadata } = event.object
      if (event.type === 'deleted') {
        if (this.#locations.get(metadata.uid)?.resource.key === key) this.#locations.delete(metadata.uid)
      } else if (event.type === 'added') {
        this.#locations.set(metadata.uid, { resource, namespace: metadata.namespace, name: metadata.name })
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
