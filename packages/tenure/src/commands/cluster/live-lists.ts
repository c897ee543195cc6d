import {
  type Client,
  type Clock,
  kindKey,
  type Kind,
  type KubeObject,
  type Random,
  type Selection,
  sleep,
  type Stored,
  unlessAborted,
} from '@tenure/kube'
import { type Informer, SharedInformers } from '@tenure/runtime'
import { RequestedLists } from './lists.ts'

/** Milliseconds after a change in which more changes are gathered. */
const SETTLE_MS = 200

export interface LiveListsOptions {
  readonly api: Client
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
}

/** Lists from caches that watches keep current. A kind that the user may not list is asked for once. */
export class LiveLists extends RequestedLists {
  readonly #options: LiveListsOptions
  readonly #informers: SharedInformers
  /** Undefined: there is nothing to show. */
  readonly #known = new Map<string, Promise<Informer<KubeObject> | undefined>>()
  #change = Promise.withResolvers<void>()

  constructor(options: LiveListsOptions) {
    super(options.api)
    this.#options = options
    const { api, clock, random, signal } = options
    this.#informers = new SharedInformers({ api, clock, random })
    this.#informers.start(signal)
  }

  override async *pages<T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection = {},
  ): AsyncGenerator<readonly Stored<T>[]> {
    const key = JSON.stringify([kindKey(kind), kind.representation, selection])
    const known = this.#known.get(key) ?? this.#follow(kind, selection)
    this.#known.set(key, known)
    const informer = await known
    if (informer) yield informer.cache.list() as readonly Stored<T>[]
  }

  /** Resolves when an object has changed since the last call. Changes of one moment are one. */
  async changed(signal: AbortSignal): Promise<void> {
    await unlessAborted(this.#change.promise, signal)
    await sleep(this.#options.clock, SETTLE_MS, signal)
    this.#change = Promise.withResolvers()
  }

  /** Resolves when every watch has ended after the abort. */
  whenStopped(): Promise<void> {
    return this.#informers.whenStopped()
  }

  async #follow<T extends KubeObject>(kind: Kind<T>, selection: Selection): Promise<Informer<KubeObject> | undefined> {
    try {
      await this.#options.api.list(kind, { ...selection, limit: 1 })
      this.hasAnswered = true
    } catch (error) {
      if (this.isServed(kind, error)) throw error
      return undefined
    }
    const informer = this.#informers.informer(kind, selection)
    await informer.whenSynced(this.#options.signal)
    informer.subscribe(() => this.#change.resolve(), { replay: false })
    return informer
  }
}
