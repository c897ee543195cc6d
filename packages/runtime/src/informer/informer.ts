import {
  abortReason,
  type Clock,
  type Kind,
  type KubeApi,
  kindKey,
  type KubeObject,
  type ObjectRef,
  type Random,
  type Selection,
  type Stored,
  type WriteObserver,
} from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { Broadcaster } from './cache/broadcaster.ts'
import type { OutageLog } from './outage-log.ts'
import { explain, isUnknownKind } from './reflector/failure.ts'
import { type InformerMetrics, informerMetrics } from './informer-metrics.ts'
import { ObjectTransform } from './cache/transform.ts'
import { LiveCache } from './cache/live-cache.ts'
import type { Machine, Outcome } from './reflector/state-machine.ts'
import { ObjectStore } from './cache/object-store.ts'
import type { Cache, IndexFunction, Informer, InformerEvent, InformerHealth, InformerSubscription } from './types.ts'
import { Reflector } from './reflector/reflector.ts'

export interface InformerTuning {
  /** Field managers whose managedFields entries are kept in cached objects; all others are dropped. Default none. */
  readonly keepManagedFieldsOf?: readonly string[]
  /** Deep-freeze cached objects, so that a mutation throws. Slow; for tests. Default false. */
  readonly freeze?: boolean
  /**
   * Milliseconds without a byte after which a watch counts as dead. The server sends a bookmark about once a minute, so
   * two are missing by then. Default 150,000.
   */
  readonly idleTimeout?: number
  /**
   * Read the initial state as watch events (`sendInitialEvents`) instead of as a list. API servers before 1.33 need
   * less memory for it; all of them need three times the CPU. Default false.
   */
  readonly initialEvents?: boolean
  /**
   * Milliseconds of silence after which a server that was asked to stream the list, and did not send its end, counts as
   * not supporting it; the informer then lists in pages. Default 10,000.
   */
  readonly initialEventsTimeout?: number
  /** Items per page of a paged list. Default 500. */
  readonly pageSize?: number
}

export interface InformerOptions<T extends KubeObject> extends InformerTuning {
  readonly api: KubeApi
  readonly kind: Kind<T>
  readonly selection: Selection
  /** See `InformerRequest`. Default false. */
  readonly alike?: boolean
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Shared by all informers of a connection. */
  readonly outages: OutageLog
  /** Called each time the server does not know the kind. */
  readonly onUnknownKind?: (kind: Kind) => void
}

/** One watched kind: the cache, its subscribers, and the reflector that feeds both. */
export class WatchingInformer<T extends KubeObject> implements Informer<T>, WriteObserver {
  readonly kind: Kind<T>
  readonly selection: Selection
  readonly #clock: Clock
  readonly #log: Logger
  readonly #metrics: InformerMetrics
  readonly #outages: OutageLog
  readonly #onUnknownKind: ((kind: Kind) => void) | undefined
  readonly #store: ObjectStore<T>
  readonly #broadcaster: Broadcaster<T>
  readonly #live: LiveCache<T>
  readonly #reflector: Reflector<T>
  readonly #onProgress = new Set<() => void>()
  readonly #synced = Promise.withResolvers<void>()
  #isSynced = false
  #lastEventAt: number | undefined
  #health: InformerHealth = { state: 'starting' }

  constructor(options: InformerOptions<T>) {
    const { kind, selection, clock, keepManagedFieldsOf = [] } = options
    this.kind = kind
    this.selection = selection
    this.#clock = clock
    this.#log = options.log.child({ kind: kindKey(kind), representation: kind.representation, ...selection })
    this.#metrics = informerMetrics(options.metrics, kind)
    this.#outages = options.outages
    this.#onUnknownKind = options.onUnknownKind
    this.#store = new ObjectStore((index, error) => this.#log.error('index function failed', { index, error }))
    this.#broadcaster = new Broadcaster((error) => this.#log.error('event handler failed', { error }))
    this.#live = new LiveCache({
      kind,
      selection,
      clock,
      store: this.#store,
      transform: new ObjectTransform(kind, {
        keepManagedFieldsOf,
        freeze: options.freeze ?? false,
        areAlike: options.alike ?? false,
      }),
      publish: (events) => this.#broadcaster.publish(events),
      progressed: () => this.#progressed(),
    })
    this.#reflector = new Reflector({
      api: options.api,
      kind,
      selection,
      clock,
      random: options.random,
      cache: this.#live,
      onTransition: (machine, outcome) => this.#onTransition(machine, outcome),
      idleTimeout: options.idleTimeout ?? 150_000,
      initialEventsTimeout: options.initialEventsTimeout ?? 10_000,
      mode: options.initialEvents ? 'streaming' : 'full',
      pageSize: options.pageSize ?? 500,
      keepManagedFieldsOf,
    })
  }

  get cache(): Cache<T> {
    return this.#store
  }

  get synced(): boolean {
    return this.#isSynced
  }

  get health(): InformerHealth {
    return this.#health
  }

  get lastSyncResourceVersion(): string | undefined {
    return this.#live.lastSyncResourceVersion
  }

  get lastEventAt(): number | undefined {
    return this.#lastEventAt
  }

  /** Number of own writes that the watch has not confirmed yet. */
  get unconfirmedWrites(): number {
    return this.#live.unconfirmed
  }

  /** Keeps the cache in sync with the server until `signal` aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal)
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#isSynced) return
    if (!signal) return this.#synced.promise
    if (signal.aborted) throw abortReason(signal)
    const aborted = Promise.withResolvers<never>()
    const onAbort = (): void => aborted.reject(abortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await Promise.race([this.#synced.promise, aborted.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  subscribe(handler: (event: InformerEvent<T>) => void, { replay = true }: InformerSubscription = {}): () => void {
    return this.#broadcaster.subscribe(handler, (deliver) => {
      if (replay) for (const object of this.#store) deliver({ type: 'added', object, initial: true })
    })
  }

  onProgress(handler: () => void): () => void {
    this.#onProgress.add(handler)
    return () => void this.#onProgress.delete(handler)
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    this.#store.addIndex(name, index)
  }

  written(kind: Kind, object: Stored<KubeObject>): void {
    this.#live.written(kind, object)
  }

  deleted(kind: Kind, ref: ObjectRef, uid: string | undefined): void {
    this.#live.deleted(kind, ref, uid)
  }

  #progressed(): void {
    this.#lastEventAt = this.#clock.now()
    for (const handler of this.#onProgress) {
      try {
        handler()
      } catch (error) {
        this.#log.error('progress handler failed', { error })
      }
    }
  }

  #onTransition(machine: Machine, outcome: Outcome | undefined): void {
    if (outcome?.type === 'listed') {
      this.#metrics.lists.inc()
      this.#log.debug('listed', { objects: this.#store.size, resourceVersion: outcome.resourceVersion })
      if (!this.#isSynced) {
        this.#isSynced = true
        this.#synced.resolve()
      }
    }
    if (outcome?.type === 'closed') this.#metrics.restarts.inc()
    if (outcome?.type === 'failed') {
      this.#metrics.restarts.inc()
      this.#metrics.failures.inc()
      this.#log.debug('watch failed', { error: outcome.error, next: machine.step.at })
    }
    this.#updateHealth(machine, outcome)
  }

  #updateHealth({ error }: Machine, outcome: Outcome | undefined): void {
    const before = this.#health
    const now = this.#clock.now()
    if (error) {
      const explained = explain(this.kind, this.selection, error)
      this.#health = { state: 'down', since: before.state === 'down' ? before.since : now, error: explained }
      if (before.state !== 'down') this.#outages.down(this, explained, this.#log)
      if (isUnknownKind(explained)) this.#onUnknownKind?.(this.kind)
    } else if (before.state === 'down' ? this.#isSynced : outcome?.type === 'listed') {
      if (before.state === 'down') this.#outages.up(this, this.#log)
      if (before.state !== 'live') this.#health = { state: 'live', since: now }
    }
  }
}
