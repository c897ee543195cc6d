import assert from 'node:assert/strict'

import type { Kind, KubeApi, KubeObject, Stored } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Informer, Logger, SharedInformersOptions } from '@tenure/runtime'
import { SharedInformers } from '@tenure/runtime'

import { EventModel, versionsOf } from '../../../packages/runtime/src/testing/event-model.ts'
import { until } from './until.ts'

/** An informer whose events, failures and log lines are recorded. */
export class ObservedInformer<T extends KubeObject> {
  readonly informer: Informer<T>
  /** Reconstructs the state from the events alone. */
  readonly model: EventModel<T>
  /** The failures of watches and lists, in order. */
  readonly failures: Error[] = []
  /** `down` and `live`, in the order of the log lines. */
  readonly transitions: string[] = []
  readonly #informers: SharedInformers
  readonly #abort = new AbortController()
  readonly #namespace: string

  constructor(
    kind: Kind<T>,
    namespace: string,
    options: Omit<SharedInformersOptions, 'log'> & { readonly api: KubeApi },
  ) {
    this.#namespace = namespace
    this.#informers = new SharedInformers({ freeze: true, ...options, log: this.#logger() })
    this.informer = this.#informers.informer(kind, { namespace })
    this.model = new EventModel(this.informer)
    this.#informers.start(this.#abort.signal)
  }

  get state(): string {
    return this.informer.health.state
  }

  whenSynced(): Promise<void> {
    return this.#informers.whenSynced()
  }

  /** Waits until the informer is down and retransitions the reason. */
  async whenDown(): Promise<Error> {
    await until('the informer is down', () => this.state === 'down')
    const { health } = this.informer
    if (health.state !== 'down') throw new Error('The informer is no longer down')
    return health.error
  }

  /** After several failures in a row the informer's backoff exceeds the usual deadline. */
  async whenLive(deadline = 60_000): Promise<void> {
    await until(
      () => `the informer is live: ${describe(this.informer)}`,
      () => this.state === 'live',
      deadline,
    )
  }

  /**
   * Call only while no client writes: waits until the cache equals the list of `api`, then checks the model against it.
   */
  async expectEqualTo(api: KubeApi): Promise<void> {
    const { cache, kind } = this.informer
    const { items } = await api.list(kind, { namespace: this.#namespace })
    const expected = versionsOf(items)
    await until(
      () => `the cache equals the list: ${describe(this.informer)}`,
      () => JSON.stringify(versionsOf(cache.list())) === JSON.stringify(expected),
    )
    assert.deepEqual(contents(cache.list()), contents(items))
    assert.deepEqual(this.model.problems, [])
    assert.deepEqual(versionsOf(this.model.objects.values()), expected)
    // With a short idle timeout the informer may reconnect during the quiet.
    await this.whenLive()
  }

  /** Retransitions the confirmed writes for which no event arrived. */
  missed(written: readonly string[]): readonly string[] {
    const received = new Set(this.model.log.map((line) => line.slice(line.indexOf(' ') + 1)))
    return written.filter((version) => !received.has(version))
  }

  async stop(): Promise<void> {
    this.model.unsubscribe()
    this.#abort.abort()
    await this.#informers.whenStopped()
  }

  #logger(): Logger {
    const logger: Logger = {
      debug: (_, facts) => void (facts?.['error'] && this.failures.push(asError(facts['error']))),
      info: (message) => void (message === 'informer is live again' && this.transitions.push('live')),
      warn: (message) => void (DOWN.has(message) && this.transitions.push('down')),
      error: (message, facts) => void this.model.problems.push(`${message}: ${String(facts?.['error'])}`),
      child: () => logger,
    }
    return logger
  }
}

/** A lost connection, or any other failure. */
const DOWN = new Set(['connection to the API server lost, retrying', 'informer is down'])

function describe({ health, cache }: Informer<KubeObject>): string {
  return `${health.state}${health.state === 'down' ? ` (${health.error.message})` : ''}, ${cache.size} objects`
}

function contents(objects: readonly Stored<KubeObject>[]): ReadonlyMap<string, object> {
  return new Map(
    objects.map((object) => {
      const { managedFields: _, ...metadata } = object.metadata
      return [metadata.uid, { ...object, metadata }]
    }),
  )
}
