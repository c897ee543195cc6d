import {
  ApiError,
  type Clock,
  isNotFound,
  type Kind,
  type KubeApi,
  kindKey,
  type KubeObject,
  type ObjectRef,
  type Random,
  type Selection,
  systemClock,
  systemRandom,
} from '@tenure/kube'
import { type Logger, silentLogger } from '../log/logger.ts'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { type InformerTuning, WatchingInformer } from './informer.ts'
import { OutageLog } from './outage-log.ts'
import type { Informer, InformerHealth, InformerRequest, Informers } from './types.ts'

export interface SharedInformersOptions extends InformerTuning {
  readonly api: KubeApi
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Default: the system's generator. */
  readonly random?: Random
  /** Default: no logs. */
  readonly log?: Logger
  /** Default: no metrics. */
  readonly metrics?: Metrics
}

/** State of one shared informer. */
export interface InformerReport {
  readonly kind: Kind
  readonly selection: Selection
  /** All callers accept that the server may not serve the kind. */
  readonly optional: boolean
  readonly synced: boolean
  readonly health: InformerHealth
}

type AnyInformer = WatchingInformer<KubeObject>

/**
 * The informers of a process: one per kind, form and selection, shared by all callers. They observe the client, so that
 * every cache shows the process its own writes. An informer requested after `start` starts at once.
 */
export class SharedInformers implements Informers {
  readonly #options: SharedInformersOptions
  readonly #informers = new Map<string, AnyInformer>()
  /** Keys of informers that every caller requested as optional. */
  readonly #optional = new Set<string>()
  /** Informers that a write may concern, by resource, regardless of version and form. */
  readonly #byResource = new Map<string, AnyInformer[]>()
  readonly #runs = new Set<Promise<void>>()
  readonly #outages: OutageLog
  readonly #onUnknownKind = new Set<(kind: Kind) => void>()
  #signal: AbortSignal | undefined

  constructor(options: SharedInformersOptions) {
    this.#options = options
    this.#outages = new OutageLog(options.log ?? silentLogger)
  }

  informer<T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection = {},
    { alike = false, optional = false }: InformerRequest = {},
  ): Informer<T> {
    const normalized = normalize(kind, selection)
    const key = JSON.stringify([
      kindKey(kind),
      kind.representation,
      normalized.namespace,
      normalized.labelSelector,
      normalized.fieldSelector,
    ])
    const known = this.#informers.get(key)
    if (!optional) this.#optional.delete(key)
    else if (!known) this.#optional.add(key)
    if (known) return known as unknown as Informer<T>
    const { clock = systemClock, random = systemRandom, log = silentLogger, metrics = noMetrics } = this.#options
    const informer = new WatchingInformer<T>({
      ...this.#options,
      kind,
      selection: normalized,
      alike,
      clock,
      random,
      log,
      metrics,
      outages: this.#outages,
      onUnknownKind: (unknown) => this.#onUnknownKind.forEach((listener) => listener(unknown)),
    })
    const any = informer as unknown as AnyInformer
    this.#informers.set(key, any)
    const resource = resourceOf(kind)
    this.#byResource.set(resource, [...(this.#byResource.get(resource) ?? []), any])
    if (this.#signal) this.#run(any, this.#signal)
    return informer
  }

  /** Starts all current and future informers until `signal` aborts. Only the first call has an effect. */
  start(signal: AbortSignal): void {
    if (this.#signal || signal.aborted) return
    this.#signal = signal
    const end = this.observe(this.#options.api)
    signal.addEventListener('abort', end, { once: true })
    for (const informer of this.#informers.values()) this.#run(informer, signal)
  }

  /**
   * Shows writes through `api`, a client other than the informers' own, in the caches at once. Returns a function that
   * stops that.
   */
  observe(api: KubeApi): () => void {
    return api.observeWrites({
      written: (kind, object) => {
        for (const informer of this.#byResource.get(resourceOf(kind)) ?? []) informer.written(kind, object)
      },
      deleted: (kind, ref, uid) => {
        for (const informer of this.#byResource.get(resourceOf(kind)) ?? []) informer.deleted(kind, ref, uid)
      },
      conflicted: (kind, ref, signal) => this.#refresh(kind, ref, signal),
    })
  }

  /**
   * Shows the newest state of an object in its caches: a retry that runs before the watch has delivered that state would
   * meet the same conflict. Never rejects. Undefined: no cache shows the object.
   */
  #refresh(kind: Kind, ref: ObjectRef, signal: AbortSignal | undefined): Promise<void> | undefined {
    const informers = (this.#byResource.get(resourceOf(kind)) ?? []).filter(({ cache }) => cache.get(ref) !== undefined)
    const source = informers.find((informer) => informer.kind.representation === 'full') ?? informers[0]
    return source && this.#readNewest(source, informers, ref, signal)
  }

  async #readNewest(
    source: AnyInformer,
    informers: readonly AnyInformer[],
    ref: ObjectRef,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { api, log = silentLogger } = this.#options
    const shown = informers.map((informer) => informer.cache.get(ref)?.metadata.uid)
    try {
      const object = await api.get(source.kind, ref, { signal })
      for (const informer of informers) informer.written(source.kind, object)
    } catch (error) {
      if (!isMissing(error, ref)) return log.debug('failed to read an object after a conflict', { ...ref, error })
      // The objects that were shown before the read are gone; another one of the same name may follow.
      for (const [at, informer] of informers.entries()) informer.deleted(source.kind, ref, shown[at])
    }
  }

  onUnknownKind(listener: (kind: Kind) => void): () => void {
    this.#onUnknownKind.add(listener)
    return () => void this.#onUnknownKind.delete(listener)
  }

  /** Resolves when all informers requested so far are synced; rejects only if `signal` aborts. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)))
  }

  /** Resolves when every watch has ended after the abort. */
  async whenStopped(): Promise<void> {
    await Promise.all(this.#runs)
  }

  /** State of all informers, for readiness: not ready while one is down or not synced, unless it is optional. */
  health(): readonly InformerReport[] {
    return Array.from(this.#informers, ([key, { kind, selection, synced, health }]) => ({
      kind,
      selection,
      optional: this.#optional.has(key),
      synced,
      health,
    }))
  }

  #run(informer: AnyInformer, signal: AbortSignal): void {
    if (signal.aborted) return
    const run = informer.run(signal).finally(() => this.#runs.delete(run))
    this.#runs.add(run)
  }
}

/** True if the server says that the object does not exist, rather than its kind or its path. */
function isMissing(error: unknown, { name }: ObjectRef): boolean {
  return isNotFound(error) && error instanceof ApiError && error.details?.name === name
}

function resourceOf(kind: Kind): string {
  return `${kind.plural}.${kind.group}`
}

/** Normalizes a selection, so that equal selections share an informer; an empty selector counts as none. */
function normalize(kind: Kind, { namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(kind.namespaced && namespace && { namespace }),
    ...(labelSelector && { labelSelector }),
    ...(fieldSelector && { fieldSelector }),
  }
}
