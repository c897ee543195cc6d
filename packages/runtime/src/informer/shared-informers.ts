import {
  type Clock,
  type Kind,
  type KubeApi,
  kindKey,
  type KubeObject,
  type Random,
  type Selection,
  systemClock,
  systemRandom,
} from '@tenure/kube'
import { type Logger, silentLogger } from '../log/logger.ts'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { type InformerTuning, WatchingInformer } from './informer.ts'
import type { Informer, InformerHealth, Informers } from './types.ts'

export interface SharedInformersOptions extends InformerTuning {
  readonly api: KubeApi
  /** Default: the machine's. */
  readonly clock?: Clock
  /** Default: the machine's. */
  readonly random?: Random
  /** Default: says nothing. */
  readonly log?: Logger
  /** Default: measures nothing. */
  readonly metrics?: Metrics
}

/** How one of the shared informers is. */
export interface InformerReport {
  readonly kind: Kind
  readonly selection: Selection
  readonly synced: boolean
  readonly health: InformerHealth
}

type Any = WatchingInformer<KubeObject>

/**
 * The informers of a process: one per kind, form and selection, however many ask. Connected to the client, so that
 * every cache shows the process its own writes. One asked for after `start` starts at once.
 */
export class SharedInformers implements Informers {
  readonly #options: SharedInformersOptions
  readonly #informers = new Map<string, Any>()
  /** By resource, whatever the version and form: those that a write may concern. */
  readonly #byResource = new Map<string, Any[]>()
  readonly #runs = new Set<Promise<void>>()
  #signal: AbortSignal | undefined

  constructor(options: SharedInformersOptions) {
    this.#options = options
  }

  informer<T extends KubeObject>(kind: Kind<T>, selection: Selection = {}): Informer<T> {
    const wanted = normalize(kind, selection)
    const key = JSON.stringify([kindKey(kind), kind.form, wanted.namespace, wanted.labelSelector, wanted.fieldSelector])
    const known = this.#informers.get(key)
    if (known) return known as unknown as Informer<T>
    const { clock = systemClock, random = systemRandom, log = silentLogger, metrics = noMetrics } = this.#options
    const informer = new WatchingInformer<T>({
      ...this.#options,
      kind,
      selection: wanted,
      clock,
      random,
      log,
      metrics,
    })
    const any = informer as unknown as Any
    this.#informers.set(key, any)
    const resource = resourceOf(kind)
    this.#byResource.set(resource, [...(this.#byResource.get(resource) ?? []), any])
    if (this.#signal) this.#run(any, this.#signal)
    return informer
  }

  /** Starts all informers, and those to come, until `signal` aborts. Once. */
  start(signal: AbortSignal): void {
    if (this.#signal || signal.aborted) return
    this.#signal = signal
    const end = this.observe(this.#options.api)
    signal.addEventListener('abort', end, { once: true })
    for (const informer of this.#informers.values()) this.#run(informer, signal)
  }

  /** Shows what is written through `api`, another client than our own, in the caches at once. Returns what ends that. */
  observe(api: KubeApi): () => void {
    return api.observeWrites({
      written: (kind, object) => {
        for (const informer of this.#byResource.get(resourceOf(kind)) ?? []) informer.written(kind, object)
      },
      deleted: (kind, ref, uid) => {
        for (const informer of this.#byResource.get(resourceOf(kind)) ?? []) informer.deleted(kind, ref, uid)
      },
    })
  }

  /** Resolves when all that were asked for so far have their first full state; rejects only if `signal` aborts. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)))
  }

  /** Resolves when, after the abort, every watch has ended. */
  async whenStopped(): Promise<void> {
    await Promise.all(this.#runs)
  }

  /** How all of them are, for readiness: red while one is not synced or down. */
  health(): readonly InformerReport[] {
    return [...this.#informers.values()].map(({ kind, selection, synced, health }) => ({
      kind,
      selection,
      synced,
      health,
    }))
  }

  #run(informer: Any, signal: AbortSignal): void {
    if (signal.aborted) return
    const run = informer.run(signal).finally(() => this.#runs.delete(run))
    this.#runs.add(run)
  }
}

function resourceOf(kind: Kind): string {
  return `${kind.plural}.${kind.group}`
}

/** Selections that select the same, written the same; an empty selector is none. */
function normalize(kind: Kind, { namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(kind.namespaced && namespace && { namespace }),
    ...(labelSelector && { labelSelector }),
    ...(fieldSelector && { fieldSelector }),
  }
}
