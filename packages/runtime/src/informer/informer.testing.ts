import { Client, defineKind, type KubeObject, type ResponseBody, type Selection } from '@tenure/kube'
import { seededRandom, settle, VirtualClock } from '@tenure/kube/testing'
import { expect } from 'vitest'
import { EventModel, versionsOf } from '../testing/event-model.ts'
import { MemoryApi, type MemoryApiOptions } from '../testing/memory-api.ts'
import type { WatchingInformer } from './informer.ts'
import { SharedInformers, type SharedInformersOptions } from './shared-informers.ts'

export interface Map extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export const ConfigMap = defineKind<Map>({ apiVersion: 'v1', kind: 'ConfigMap' })
export const map = (name: string, value = '1', labels: Record<string, string> = {}): Map => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data: { value },
})
export const ref = (name: string) => ({ namespace: 'default', name })
/** Reads the initial state as watch events instead of as a list. */
export const streamed = { initialEvents: true }

export interface SetUp {
  readonly server?: Partial<MemoryApiOptions>
  readonly informers?: Partial<SharedInformersOptions>
  readonly selection?: Selection
}

/** An informer of ConfigMaps on an in-memory API server, in virtual time. */
export function setUp({ server, informers: tuning, selection }: SetUp = {}) {
  const clock = new VirtualClock()
  const api = new MemoryApi({ clock, ...server })
  const random = seededRandom(7)
  // The client does not retry, so that the informer handles each failure.
  const client = new Client({ transport: api, clock, random, retry: { attempts: 1 } })
  const informers = new SharedInformers({ api: client, clock, random, freeze: true, ...tuning })
  const informer = informers.informer(ConfigMap, selection) as WatchingInformer<Map>
  const model = new EventModel(informer)
  const stop = new AbortController()
  const start = async (): Promise<void> => {
    informers.start(stop.signal)
    await settle()
  }
  const inSync = (): boolean =>
    JSON.stringify(versionsOf(informer.cache.list())) === JSON.stringify(versionsOf(api.objects(ConfigMap)))
  /** Checks that cache, events and server agree and nothing is left running. */
  const expectClean = async (): Promise<void> => {
    await clock.advanceUntil(inSync)
    expect(versionsOf(model.objects.values())).toEqual(versionsOf(informer.cache.list()))
    expect(model.problems).toEqual([])
    api.sendBookmarks()
    await settle()
    expect(informer.unconfirmedWrites).toBe(0)
    stop.abort(new Error('stop'))
    await settle()
    await informers.whenStopped()
    expect({ timers: clock.pending, watches: api.openWatches }).toEqual({ timers: 0, watches: 0 })
  }
  const verbs = (): readonly string[] =>
    api.requests.map(({ verb, query }) =>
      verb === 'watch' && query['sendInitialEvents'] ? 'stream' : query['continue'] ? 'page' : verb,
    )
  return { clock, api, client, informers, informer, model, stop, start, expectClean, verbs }
}

export function linesBody(events: readonly object[]): ResponseBody {
  return textBody(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
}

export function textBody(text: string): ResponseBody {
  return {
    text: () => Promise.resolve(text),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield new TextEncoder().encode(text)
    },
  }
}

/** A body that sends `beginning` and then stalls until it is cancelled. */
export function stalledBody(beginning: string): ResponseBody {
  const over = Promise.withResolvers<void>()
  return {
    text: () => over.promise.then(() => beginning),
    cancel: () => over.resolve(),
    async *[Symbol.asyncIterator]() {
      yield new TextEncoder().encode(beginning)
      await over.promise
    },
  }
}
