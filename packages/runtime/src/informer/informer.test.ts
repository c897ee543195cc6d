import {
  Client,
  defineKind,
  type KubeObject,
  mergePatch,
  metadataOf,
  type ResponseBody,
  type Selection,
} from '@tenure/kube'
import { seededRandom, settle, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, it, vi } from 'vitest'
import { type Labels, noMetrics } from '../metrics.ts'
import { EventModel, versionsOf } from '../testing/event-model.ts'
import { MemoryApi, type MemoryApiOptions, refuse } from '../testing/memory-api.ts'
import type { WatchingInformer } from './informer.ts'
import { Intake } from './intake.ts'
import { SharedInformers, type SharedInformersOptions } from './shared-informers.ts'

interface Map extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const ConfigMap = defineKind<Map>({ apiVersion: 'v1', kind: 'ConfigMap' })
const map = (name: string, value = '1', labels: Record<string, string> = {}): Map => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data: { value },
})
const ref = (name: string) => ({ namespace: 'default', name })
/** The first state as events of a watch, where the default is a list. */
const streamed = { initialEvents: true }

interface SetUp {
  readonly server?: Partial<MemoryApiOptions>
  readonly informers?: Partial<SharedInformersOptions>
  readonly selection?: Selection
}

function setUp({ server, informers: tuning, selection }: SetUp = {}) {
  const clock = new VirtualClock()
  const api = new MemoryApi({ clock, ...server })
  const random = seededRandom(7)
  // No repeats within the client: each failure is the informer's to deal with.
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
  /** Whatever happened: cache, events and server agree, and nothing is left behind. */
  const expectClean = async (): Promise<void> => {
    await clock.advanceUntil(inSync)
    expect(versionsOf(model.objects.values())).toEqual(versionsOf(informer.cache.list()))
    expect(model.complaints).toEqual([])
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

describe('first state', () => {
  it('is listed, and watched on from there', async () => {
    const t = setUp()
    for (const name of ['a', 'b']) t.api.seed(ConfigMap, map(name))
    // Between the list and the watch.
    t.api.intercept(({ verb }) => {
      if (verb === 'watch' && t.api.objects(ConfigMap).length === 2) t.api.seed(ConfigMap, map('c'))
      return undefined
    })
    await t.start()
    expect(t.model.log).toEqual(['added default/a@2', 'added default/b@3', 'added default/c@4'])
    expect(t.verbs()).toEqual(['list', 'watch'])
    expect(t.api.requests[0]?.query).toEqual({})
    expect(t.api.requests[1]?.query['resourceVersion']).toBe('3')
    await t.expectClean()
  })

  it.each(['{"kind":"ConfigMapList","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"a"', 'no list'])(
    'is listed in pages when the list comes as %s',
    async (body) => {
      const t = setUp({ informers: { pageSize: 1 } })
      for (const name of ['a', 'b']) t.api.seed(ConfigMap, map(name))
      const end = t.api.intercept(() => ({ status: 200, headers: {}, body: textBody(body) }))
      await t.start()
      end()
      expect([t.informer.synced, t.informer.cache.size]).toEqual([false, 0])
      expect(t.informer.health).toMatchObject({ state: 'down', error: { code: 'TENURE_LIST_UNREADABLE' } })
      await t.clock.advance(1000)
      expect(t.verbs()).toEqual(['list', 'list', 'page', 'watch'])
      expect(t.model.log).toEqual(['added default/a@2', 'added default/b@3'])
      await t.expectClean()
    },
  )

  it('is listed in pages when the server keeps a part of it back, unasked', async () => {
    const t = setUp({ informers: { pageSize: 1 } })
    for (const name of ['a', 'b']) t.api.seed(ConfigMap, map(name))
    const [first] = t.api.objects(ConfigMap)
    t.api.intercept(({ verb, query }) => {
      if (verb !== 'list' || query['limit']) return undefined
      const metadata = { resourceVersion: '3', continue: 'more' }
      return { status: 200, headers: {}, body: textBody(JSON.stringify({ metadata, items: [first] })) }
    })
    await t.start()
    expect(t.verbs()).toEqual(['list', 'list', 'page', 'watch'])
    expect(t.informer.cache.size).toBe(2)
    await t.expectClean()
  })

  it('is listed with the managedFields that are kept, as Go servers write them', async () => {
    const t = setUp({ informers: { keepManagedFieldsOf: ['me'] } })
    for (let index = 0; index < 500; index++) t.api.seed(ConfigMap, map(`m${index}`, 'x'.repeat(200)))
    const list = vi.spyOn(t.client, 'streamList')
    t.api.intercept(({ verb }) => {
      if (verb !== 'list') return undefined
      const items = t.api.objects(ConfigMap).map(({ metadata, data }, index) => ({
        metadata: { ...metadata, managedFields: [{ manager: index % 10 === 0 ? 'me' : 'you' }, { manager: 'them' }] },
        data,
      }))
      const body = textBody(JSON.stringify({ metadata: { resourceVersion: '501' }, items }))
      return { status: 200, headers: {}, body }
    })
    await t.start()
    const cached = t.informer.cache.list()
    expect(cached).toHaveLength(500)
    expect(new Set(cached.map(({ kind, data }) => `${kind} ${data?.['value']?.length}`))).toEqual(
      new Set(['ConfigMap 200']),
    )
    const kept = cached.map(({ metadata }) => metadata.managedFields).filter((fields) => fields !== undefined)
    expect(kept).toEqual(Array.from({ length: 50 }, () => [{ manager: 'me' }]))
    // So that those of others need not even be parsed.
    expect(list.mock.calls[0]?.[1]).toMatchObject({ managedFieldsOf: ['me'] })
    await t.expectClean()
  })

  it('is listed anew when the list stops in the middle, and the connection stays', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    const end = t.api.intercept(() => ({ status: 200, headers: {}, body: stalledBody('{"kind":"ConfigMapList",') }))
    await t.start()
    end()
    await t.clock.advance(59_000)
    expect(t.informer.synced).toBe(false)
    await t.clock.advance(3000)
    expect(t.informer.cache.size).toBe(1)
    await t.expectClean()
  })

  it('is streamed where that is asked for, in one watch that goes on', async () => {
    const t = setUp({ informers: streamed })
    t.api.seed(ConfigMap, map('a'))
    t.api.seed(ConfigMap, map('b'))
    expect(t.informer.health).toEqual({ state: 'starting' })
    await t.start()
    await t.informer.whenSynced()
    expect(t.informer.health).toMatchObject({ state: 'live' })
    expect(t.informer.cache.list('default')).toHaveLength(2)
    t.api.seed(ConfigMap, map('c'))
    t.api.seed(ConfigMap, map('a', '2'))
    t.api.unseed(ConfigMap, ref('b'))
    await settle()
    expect(t.model.log).toEqual([
      'added default/a@2',
      'added default/b@3',
      'added default/c@4',
      'modified default/a@5',
      'deleted default/b@6',
    ])
    expect(t.verbs()).toEqual(['stream'])
    await t.expectClean()
  })

  it.each([
    { initialEvents: 'refuse', waits: 0 },
    { initialEvents: 'ignore', waits: 10_000 },
  ] as const)('is listed in pages by a server that would $initialEvents', async ({ initialEvents, waits }) => {
    const t = setUp({ server: { initialEvents }, informers: { ...streamed, pageSize: 2 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    await t.start()
    await t.clock.advance(waits)
    expect(t.informer.synced).toBe(true)
    expect(t.verbs()).toEqual(['stream', 'list', 'page', 'watch'])
    // And it remembers.
    t.api.compact()
    t.api.seed(ConfigMap, map('d'))
    t.api.clearRequests()
    t.api.injectWatchLine({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
    await settle()
    expect(t.verbs()).toEqual(['list', 'page', 'watch'])
    await t.expectClean()
  })

  it('is listed when a lively server that ignores sendInitialEvents never falls silent', async () => {
    const t = setUp({ server: { initialEvents: 'ignore' }, informers: streamed })
    await t.start()
    for (let second = 0; second < 70 && !t.informer.synced; second++) {
      t.api.seed(ConfigMap, map('a', String(second)))
      await t.clock.advance(1000)
    }
    expect(t.informer.synced).toBe(true)
    expect(t.verbs()).toEqual(['stream', 'list', 'watch'])
    await t.expectClean()
  })

  it('is listed in one piece when a continue token expires', async () => {
    const t = setUp({ server: { initialEvents: 'refuse' }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    t.api.intercept(({ query }) => {
      if (query['continue']) t.api.compact()
      return undefined
    })
    await t.start()
    await t.clock.advanceUntil(() => t.informer.synced)
    expect(t.verbs()).toEqual(['stream', 'list', 'page', 'list', 'watch'])
    await t.expectClean()
  })

  it('waits for a kind that does not exist yet, and says so', async () => {
    const t = setUp()
    const end = t.api.intercept(() => refuse(404, 'NotFound'))
    await t.start()
    await t.clock.advance(120_000)
    expect(t.informer.synced).toBe(false)
    expect(t.informer.health).toMatchObject({ state: 'down', error: { code: 'TENURE_KIND_UNKNOWN' } })
    t.api.seed(ConfigMap, map('a'))
    end()
    await t.clock.advance(40_000)
    expect(t.informer.health.state).toBe('live')
    await t.expectClean()
  })

  it('gives up waiting for it only when told to', async () => {
    const t = setUp()
    t.api.intercept(() => refuse(403, 'Forbidden'))
    await t.start()
    const waiting = new AbortController()
    const synced = t.informer.whenSynced(waiting.signal)
    waiting.abort(new Error('too long'))
    await expect(synced).rejects.toThrow('too long')
    await expect(t.informers.whenSynced(waiting.signal)).rejects.toThrow('too long')
    expect(t.informer.health).toMatchObject({ state: 'down', error: { code: 'TENURE_WATCH_FORBIDDEN' } })
    await t.expectClean()
  })
})

describe('stopping', () => {
  it.each([
    ['while the watch is being opened', 'serve', 0],
    ['between two pages', 'refuse', 150],
    ['while it waits for the end of the initial events', 'ignore', 5000],
  ] as const)('leaves nothing behind %s', async (_when, initialEvents, after) => {
    const t = setUp({ server: { initialEvents }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    t.api.delayAnswers(({ verb }) => (verb === 'list' || after === 0 ? 100 : 0))
    await t.start()
    await t.clock.advance(after)
    expect(t.informer.synced).toBe(false)
    t.stop.abort(new Error('stop'))
    await t.informers.whenStopped()
    await settle()
    expect({ timers: t.clock.pending, watches: t.api.openWatches }).toEqual({ timers: 0, watches: 0 })
    t.api.clearRequests()
    await t.clock.advance(600_000)
    expect(t.api.requests).toEqual([])
  })

  it('leaves nothing behind in the middle of a list', async () => {
    const t = setUp()
    t.api.intercept(() => ({ status: 200, headers: {}, body: stalledBody('{"kind":"ConfigMapList",') }))
    await t.start()
    expect(t.clock.pending).toBe(1)
    t.stop.abort(new Error('stop'))
    await t.informers.whenStopped()
    expect(t.clock.pending).toBe(0)
  })

  it('leaves nothing behind while it backs off, and takes no more writes', async () => {
    const t = setUp()
    t.api.intercept(({ verb }) => (verb === 'watch' ? 'drop' : undefined))
    await t.start()
    expect(t.clock.pending).toBe(1)
    t.stop.abort(new Error('stop'))
    await t.informers.whenStopped()
    expect(t.clock.pending).toBe(0)
    await t.client.create(ConfigMap, map('a'))
    expect(t.informer.cache.size).toBe(0)
  })
})

describe('a watch that breaks', () => {
  it('in the middle of the first state shows none of it', async () => {
    const t = setUp({ informers: streamed })
    for (const name of ['a', 'b']) t.api.seed(ConfigMap, map(name))
    t.api.holdWatches()
    await t.start()
    t.api.releaseWatches(1)
    await settle()
    t.api.unseed(ConfigMap, ref('a'))
    t.api.dropWatches()
    await settle()
    expect([t.informer.synced, t.informer.cache.size]).toEqual([false, 0])
    t.api.releaseWatches()
    await t.clock.advance(1000)
    expect(t.model.log).toEqual(['added default/b@3'])
    await t.expectClean()
  })

  it('resumes where it was, after a lost connection', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.dropWatches()
    t.api.seed(ConfigMap, map('b'))
    t.api.unseed(ConfigMap, ref('a'))
    await settle()
    expect(t.informer.health).toMatchObject({ state: 'down', error: { code: 'TENURE_CONNECTION_LOST' } })
    await t.clock.advance(1000)
    expect(t.informer.health.state).toBe('live')
    expect(t.verbs()).toEqual(['list', 'watch', 'watch'])
    expect(t.model.log).toEqual(['added default/a@2', 'added default/b@3', 'deleted default/a@4'])
    await t.expectClean()
  })

  it('is live again as soon as the server accepts the watch, however quiet the kind', async () => {
    const t = setUp({ server: { bookmarkEvery: 0 } })
    await t.start()
    t.api.dropWatches()
    await t.clock.advance(1000)
    expect(t.informer.health.state).toBe('live')
    await t.expectClean()
  })

  it('notices a half-open connection by the bookmarks that stop', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    // Bookmarks keep a quiet watch alive, far beyond the idle time-out.
    await t.clock.advance(200_000)
    expect(t.verbs()).toEqual(['list', 'watch'])
    t.api.stallWatches()
    t.api.seed(ConfigMap, map('b'))
    // The last bookmark came 20 seconds ago.
    await t.clock.advance(129_000)
    expect(t.informer.cache.size).toBe(1)
    await t.clock.advance(3000)
    expect(t.informer.cache.size).toBe(2)
    expect(t.verbs()).toEqual(['list', 'watch', 'watch'])
    await t.expectClean()
  })

  it('does not list again and again from a server that sends no bookmarks, while nothing happens', async () => {
    const t = setUp({ server: { bookmarkEvery: 0 } })
    await t.start()
    await t.clock.advance(1_200_000)
    expect(t.verbs().filter((verb) => verb !== 'watch')).toEqual(['list'])
    await t.expectClean()
  })

  it('lists when a watch is accepted and brings nothing at all, as by a server that was restored from a backup', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.injectWatchLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '1000' } } })
    await settle()
    t.api.dropWatches()
    // What real servers do with a version from their future.
    t.api.intercept(({ verb, query }) =>
      verb === 'watch' && query['resourceVersion'] === '1000'
        ? { status: 200, headers: {}, body: stalledBody('') }
        : undefined,
    )
    t.api.seed(ConfigMap, map('b'))
    t.api.unseed(ConfigMap, ref('a'))
    await t.clock.advance(180_000)
    expect(t.informer.health.state).toBe('live')
    expect(t.informer.cache.list().map(({ metadata }) => metadata.name)).toEqual(['b'])
    await t.expectClean()
  })

  it('begins anew, at once and without alarm, when the server ends it', async () => {
    const t = setUp()
    await t.start()
    for (let minute = 0; minute < 60; minute++) {
      await t.clock.advance(60_000)
      expect(t.informer.health.state).toBe('live')
      t.api.seed(ConfigMap, map('a', String(minute)))
    }
    await settle()
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('59')
    expect(t.verbs().filter((verb) => verb === 'watch').length).toBeGreaterThan(5)
    expect(t.verbs().filter((verb) => verb !== 'watch')).toEqual(['list'])
    const watches = t.api.requests.filter(({ verb }) => verb === 'watch')
    const timeouts = watches.map(({ query }) => Number(query['timeoutSeconds']))
    expect(Math.min(...timeouts)).toBeGreaterThanOrEqual(300)
    expect(Math.max(...timeouts)).toBeLessThan(600)
    expect(new Set(timeouts).size).toBeGreaterThan(3)
    await t.expectClean()
  })

  it('does not hammer a server that ends watches at once, and says that something is wrong', async () => {
    const t = setUp()
    await t.start()
    t.api.intercept(({ verb }) => {
      if (verb === 'watch') setImmediate(() => t.api.endWatches())
      return undefined
    })
    t.api.endWatches()
    await t.clock.advance(120_000)
    expect(t.informer.health).toMatchObject({ state: 'down', error: { code: 'TENURE_WATCH_CLOSED_EARLY' } })
    expect(t.api.requests.length).toBeLessThan(15)
    await t.expectClean()
  })

  it.each([
    { expiry: 'stream', initialEvents: false, verbs: ['list', 'watch', 'watch', 'list', 'watch'] },
    { expiry: 'status', initialEvents: false, verbs: ['list', 'watch', 'watch', 'list', 'watch'] },
    { expiry: 'stream', initialEvents: true, verbs: ['stream', 'watch', 'stream'] },
    { expiry: 'status', initialEvents: true, verbs: ['stream', 'watch', 'stream'] },
  ] as const)(
    'lists anew and tells the difference on a 410 by $expiry: $verbs',
    async ({ expiry, initialEvents, verbs }) => {
      const t = setUp({ server: { expiry }, informers: { initialEvents } })
      for (const name of ['same', 'changed', 'gone', 'remade']) t.api.seed(ConfigMap, map(name))
      await t.start()
      const same = t.informer.cache.get(ref('same'))
      t.api.dropWatches()
      t.api.seed(ConfigMap, map('changed', '2'))
      t.api.unseed(ConfigMap, ref('gone'))
      t.api.unseed(ConfigMap, ref('remade'))
      t.api.seed(ConfigMap, map('remade'))
      t.api.seed(ConfigMap, map('new'))
      t.api.compact()
      t.model.log.length = 0
      await t.clock.advance(30_000)
      expect(t.verbs()).toEqual(verbs)
      expect(t.model.log.toSorted()).toEqual([
        'added default/new@10',
        'added default/remade@9',
        'deleted default/gone@4',
        'deleted default/remade@5',
        'modified default/changed@6',
      ])
      // What did not change is the same object: a relist costs no memory.
      expect(t.informer.cache.get(ref('same'))).toBe(same)
      expect(t.informer.health.state).toBe('live')
      await t.expectClean()
    },
  )

  it.each([
    ['a Status', { kind: 'Status', metadata: {}, status: 'Success' }, 'TENURE_LIST_UNREADABLE'],
    ['one object', { kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '9' } }, 'TENURE_LIST_UNREADABLE'],
    ['a list of no version', { metadata: {}, items: [] }, 'TENURE_LIST_UNVERSIONED'],
  ])('takes nothing for deleted when it lists anew and gets %s, again and again', async (_what, answer, code) => {
    const t = setUp()
    for (const name of ['a', 'b']) t.api.seed(ConfigMap, map(name))
    await t.start()
    const end = t.api.intercept(({ verb, query }) => {
      // In pages it is as bad, and says so in other words.
      if (verb === 'watch' || query['limit']) return refuse(410, 'Expired')
      return { status: 200, headers: {}, body: textBody(JSON.stringify(answer)) }
    })
    const codes = new Set<unknown>()
    t.api.dropWatches()
    for (let second = 0; second < 300; second++) {
      await t.clock.advance(1000)
      const { health } = t.informer
      if (health.state === 'down' && 'code' in health.error) codes.add(health.error.code)
    }
    expect(codes).toContain(code)
    expect(t.informer.cache.size).toBe(2)
    expect(t.model.log).toHaveLength(2)
    end()
    await t.clock.advance(60_000)
    expect(t.informer.health.state).toBe('live')
    await t.expectClean()
  })

  it('never shows a half-empty cache while it lists anew', async () => {
    const t = setUp({ server: { initialEvents: 'refuse' }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    await t.start()
    const sizes = new Set<number>()
    t.informer.subscribe(() => sizes.add(t.informer.cache.size))
    sizes.clear()
    t.api.intercept(() => {
      sizes.add(t.informer.cache.size)
      return undefined
    })
    t.api.dropWatches()
    for (const name of ['a', 'b', 'c']) t.api.unseed(ConfigMap, ref(name))
    for (const name of ['d', 'e', 'f']) t.api.seed(ConfigMap, map(name))
    t.api.compact()
    await t.clock.advance(30_000)
    expect([...sizes]).toEqual([3])
    await t.expectClean()
  })

  it.each([429, 500, 503])('waits out a %i, as long as the server asks', async (status) => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    const end = t.api.intercept(() => refuse(status, 'Busy', 'busy', 7))
    await t.start()
    await t.clock.advance(6999)
    expect(t.api.requests).toHaveLength(1)
    end()
    await t.clock.advance(1000)
    expect(t.informer.synced).toBe(true)
    await t.expectClean()
  })

  it('backs off from 0.8 to 30 seconds, with jitter, and forgets failures after a healthy stretch', async () => {
    const t = setUp()
    await t.start()
    t.api.clearRequests()
    const end = t.api.intercept(() => refuse(500, 'InternalError'))
    const went = t.clock.now()
    t.api.dropWatches()
    await t.clock.advance(300_000)
    const waits = t.api.requests.map(({ at }, index, all) => at - (all[index - 1]?.at ?? went))
    expect(waits[0]).toBeGreaterThanOrEqual(600)
    expect(waits[0]).toBeLessThanOrEqual(1000)
    expect(waits[1]).toBeGreaterThan(1000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(37_500)
    expect(Math.max(...waits)).toBeGreaterThan(22_000)
    expect(new Set(waits).size).toBe(waits.length)
    end()
    await t.clock.advance(100_000)
    t.api.clearRequests()
    t.api.dropWatches()
    await t.clock.advance(1000)
    expect(t.api.requests).toHaveLength(1)
    await t.expectClean()
  })

  it('reads JSON split at every byte', async () => {
    const t = setUp({ server: { watchChunkBytes: 1 } })
    t.api.seed(ConfigMap, map('a', 'grüße 🦀\n"{'))
    await t.start()
    await t.clock.advanceUntil(() => t.informer.synced)
    for (let value = 0; value < 5; value++) t.api.seed(ConfigMap, map('a', `é${value}🦀`))
    await t.expectClean()
    expect(t.model.log).toHaveLength(6)
  })

  it('takes rubbish in the stream for a broken connection', async () => {
    const t = setUp()
    await t.start()
    t.api.injectWatchLine('{"type":"ADDED","object":')
    t.api.seed(ConfigMap, map('a'))
    await settle()
    expect(t.informer.health.state).toBe('down')
    await t.clock.advance(1000)
    expect(t.informer.health.state).toBe('live')
    await t.expectClean()
  })

  it.each(['added', 'deleted'])('brings again an event that could not be taken in: %s', async (type) => {
    const t = setUp()
    if (type === 'deleted') t.api.seed(ConfigMap, map('a'))
    await t.start()
    const take = vi.spyOn(Intake.prototype, 'take').mockImplementationOnce(() => {
      throw new TypeError('a bug')
    })
    if (type === 'deleted') t.api.unseed(ConfigMap, ref('a'))
    else t.api.seed(ConfigMap, map('a'))
    await settle()
    expect(t.informer.health).toMatchObject({ state: 'down', error: { message: 'a bug' } })
    await t.clock.advance(1000)
    expect(t.model.log.map((line) => line.split(' ')[0]).at(-1)).toBe(type)
    expect(t.verbs()).toEqual(['list', 'watch', 'watch'])
    take.mockRestore()
    await t.expectClean()
  })

  it('lists when watching from one version fails again and again', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.dropWatches()
    t.api.intercept(({ query }) => (query['resourceVersion'] === '2' ? refuse(500, 'InternalError') : undefined))
    t.api.seed(ConfigMap, map('b'))
    await t.clock.advance(200_000)
    expect(t.informer.cache.size).toBe(2)
    await t.expectClean()
  })

  it('does not go back to a list from before what it has shown, unless the server insists', async () => {
    const t = setUp({ informers: streamed })
    for (const value of ['1', '2', '3']) t.api.seed(ConfigMap, map('a', value))
    await t.start()
    const lagging = t.api.intercept(({ query }) => {
      if (!query['sendInitialEvents']) return refuse(410, 'Expired')
      return {
        status: 200,
        headers: {},
        body: linesBody([
          {
            type: 'ADDED',
            object: { ...map('a', 'old'), metadata: { ...map('a').metadata, uid: 'u', resourceVersion: '1' } },
          },
          {
            type: 'BOOKMARK',
            object: { metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } } },
          },
        ]),
      }
    })
    t.api.dropWatches()
    await t.clock.advance(2500)
    expect(t.informer.health).toMatchObject({ state: 'down', error: { code: 'TENURE_LIST_STALE' } })
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('3')
    await t.clock.advance(60_000)
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('old')
    lagging()
    t.model.complaints.length = 0
    t.api.seed(ConfigMap, map('a', '4'))
    await t.expectClean()
  })
})

function linesBody(events: readonly object[]): ResponseBody {
  return textBody(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
}

function textBody(text: string): ResponseBody {
  return {
    text: () => Promise.resolve(text),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield new TextEncoder().encode(text)
    },
  }
}

/** One that has a beginning and then nothing, until it is cancelled. */
function stalledBody(beginning: string): ResponseBody {
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

describe('our own writes', () => {
  it('are shown at once, and their echo is not news', async () => {
    const t = setUp()
    await t.start()
    t.api.holdWatches()
    const made = await t.client.create(ConfigMap, map('a'))
    expect(t.informer.cache.get(ref('a'))?.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    const patched = await t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: '2' } }))
    expect(t.informer.cache.get(ref('a'))?.data).toEqual(patched.data)
    expect(t.informer.unconfirmedWrites).toBe(1)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/a@2', 'modified default/a@3'])
    expect(t.informer.unconfirmedWrites).toBe(0)
    await t.expectClean()
  })

  it('made while the first list is on its way are shown too, and stay', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    t.api.intercept(async ({ verb }) => {
      if (verb === 'list') await t.client.create(ConfigMap, map('b'))
      return undefined
    })
    t.api.holdWatches()
    await t.start()
    expect(t.informer.synced).toBe(true)
    expect(t.model.log.toSorted()).toEqual(['added default/a@2', 'added default/b@3'])
    t.api.releaseWatches()
    await t.expectClean()
  })

  it('made before the first state is there are shown too, and stay', async () => {
    const t = setUp({ informers: streamed })
    t.api.seed(ConfigMap, map('a'))
    t.api.holdWatches()
    await t.start()
    await t.client.create(ConfigMap, map('b'))
    expect(t.informer.synced).toBe(false)
    expect(t.informer.cache.list()).toHaveLength(1)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/b@3', 'added default/a@2'])
    await t.expectClean()
  })

  it('to objects outside the selection leave marks that time takes away', async () => {
    const t = setUp({ selection: { labelSelector: 'app=web' } })
    await t.start()
    await t.client.create(ConfigMap, map('other'))
    const { metadata } = t.api.seed(ConfigMap, map('another'))
    await t.client.delete(ConfigMap, ref('another'), { preconditions: { uid: metadata.uid } })
    expect(t.informer.unconfirmedWrites).toBe(2)
    await t.clock.advance(60_000)
    expect(t.informer.unconfirmedWrites).toBe(1)
    await t.clock.advance(660_000)
    expect(t.informer.unconfirmedWrites).toBe(0)
    t.api.unseed(ConfigMap, ref('other'))
    await t.expectClean()
  })

  it('that delete are not undone by late events', async () => {
    const t = setUp()
    await t.start()
    t.api.holdWatches()
    const { metadata } = t.api.seed(ConfigMap, map('theirs'))
    t.api.seed(ConfigMap, map('theirs', '2'))
    await t.client.delete(ConfigMap, ref('theirs'), { preconditions: { uid: metadata.uid } })
    t.api.releaseWatches(2)
    await settle()
    expect(t.informer.cache.size).toBe(0)
    expect(t.informer.unconfirmedWrites).toBe(1)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual([])
    await t.expectClean()
  })

  it('that delete leave no mark when the watch is faster than the answer', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.delayAnswers(({ verb }) => (verb === 'delete' ? 1000 : 0))
    const deleting = t.client.delete(ConfigMap, ref('a'))
    await settle()
    expect(t.informer.cache.size).toBe(0)
    await t.clock.advance(1000)
    expect((await deleting).gone).toBe(true)
    expect(t.informer.unconfirmedWrites).toBe(0)
    await t.expectClean()
  })

  it('that delete do not uncover an earlier object of the same name', async () => {
    const t = setUp()
    await t.start()
    t.api.holdWatches()
    t.api.seed(ConfigMap, map('a', 'theirs'))
    t.api.unseed(ConfigMap, ref('a'))
    const { metadata } = await t.client.create(ConfigMap, map('a', 'ours'))
    await t.client.delete(ConfigMap, ref('a'), { preconditions: { uid: metadata.uid } })
    t.api.releaseWatches(1)
    await settle()
    expect(t.informer.cache.size).toBe(0)
    t.api.releaseWatches()
    await t.expectClean()
    expect(t.model.log).toEqual(['added default/a@4', 'deleted default/a@4'])
  })

  it('that remove the last finalizer remove the object', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, { ...map('a'), metadata: { ...map('a').metadata, finalizers: ['x/y'] } })
    await t.start()
    t.api.holdWatches()
    const result = await t.client.delete(ConfigMap, ref('a'))
    expect(result.gone).toBe(false)
    expect(t.informer.cache.get(ref('a'))?.metadata.deletionTimestamp).toBeDefined()
    await t.client.patch(ConfigMap, ref('a'), mergePatch({ metadata: { finalizers: null } }))
    expect(t.informer.cache.size).toBe(0)
    t.api.releaseWatches()
    await t.expectClean()
    expect(t.model.log).toEqual(['added default/a@2', 'modified default/a@3', 'deleted default/a@3'])
  })

  it('do not bring back what somebody else deleted meanwhile', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.delayAnswers(({ verb }) => (verb === 'patch' ? 1000 : 0))
    const patching = t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: '2' } }))
    await settle()
    t.api.unseed(ConfigMap, ref('a'))
    await t.clock.advance(1000)
    expect((await patching).metadata.resourceVersion).toBe('3')
    expect(t.informer.cache.size).toBe(0)
    await t.expectClean()
  })

  it('are kept through a list from before them', async () => {
    const t = setUp({ server: { initialEvents: 'refuse' }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    await t.start()
    t.api.dropWatches()
    t.api.compact()
    let wrote = false
    t.api.intercept(async ({ query }) => {
      if (!query['continue'] || wrote) return undefined
      wrote = true
      // Between two pages of a snapshot taken before.
      await t.client.patch(ConfigMap, ref('a'), mergePatch({ data: { value: 'mine' } }))
      await t.client.delete(ConfigMap, ref('b'))
      await t.client.create(ConfigMap, map('d'))
      t.api.holdWatches()
      return undefined
    })
    t.api.injectWatchLine({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
    t.api.seed(ConfigMap, map('c', '2'))
    t.api.compact()
    await t.clock.advanceUntil(() => wrote)
    await settle()
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('mine')
    expect(t.informer.cache.get(ref('b'))).toBeUndefined()
    expect(t.informer.cache.get(ref('c'))?.data?.['value']).toBe('2')
    expect(t.informer.cache.get(ref('d'))).toBeDefined()
    t.api.releaseWatches()
    await t.expectClean()
  })

  it('that leave the selection take the object out, and late events do not bring it back', async () => {
    const t = setUp({ selection: { labelSelector: 'app=web' } })
    await t.start()
    t.api.holdWatches()
    t.api.seed(ConfigMap, map('a', '1', { app: 'web' }))
    t.api.seed(ConfigMap, map('a', '2', { app: 'web' }))
    await t.client.patch(ConfigMap, ref('a'), mergePatch({ metadata: { labels: { app: 'db' } } }))
    t.api.releaseWatches(2)
    await settle()
    expect(t.informer.cache.size).toBe(0)
    await t.client.patch(ConfigMap, ref('a'), mergePatch({ metadata: { labels: { app: 'web' } } }))
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('2')
    t.api.releaseWatches()
    await t.expectClean()
    expect(t.model.log).toEqual(['added default/a@5'])
  })

  it('that delete are not undone after a list that lacks the object because it had left the selection', async () => {
    const t = setUp({ server: { expiry: 'status' }, selection: { labelSelector: 'app=web' } })
    await t.start()
    const { metadata } = await t.client.create(ConfigMap, map('a', '1', { app: 'web' }))
    await settle()
    t.api.holdWatches()
    t.api.delayAnswers(({ verb }) => (verb === 'list' ? 300 : 0))
    t.api.seed(ConfigMap, map('a', '2', { app: 'db' }))
    t.api.compact()
    t.api.dropWatches()
    t.api.clearRequests()
    await t.clock.advanceUntil(() => t.verbs().includes('list'))
    // The list is on its way, without it. Somebody brings it back, and we delete it.
    t.api.seed(ConfigMap, map('a', '3', { app: 'web' }))
    await t.client.delete(ConfigMap, ref('a'), { preconditions: { uid: metadata.uid } })
    await t.clock.advance(1000)
    t.api.releaseWatches()
    await settle()
    expect(t.model.log).toEqual(['added default/a@2', 'deleted default/a@2'])
    await t.clock.advance(660_000)
    await t.expectClean()
  })

  it('in metadata form change the metadata of a full object until the watch brings the rest', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a', '1'))
    await t.start()
    t.api.holdWatches()
    const patch = mergePatch({ metadata: { annotations: { note: 'x' } }, data: { value: '2' } })
    await t.client.patch(metadataOf(ConfigMap), ref('a'), patch)
    expect(t.informer.cache.get(ref('a'))).toMatchObject({
      metadata: { annotations: { note: 'x' }, resourceVersion: '3' },
      data: { value: '1' },
    })
    t.api.releaseWatches()
    await settle()
    expect(t.informer.cache.get(ref('a'))?.data?.['value']).toBe('2')
    await t.expectClean()
  })

  it.each([ConfigMap, metadataOf(ConfigMap)])(
    'in metadata form leave it to the watch what is selected by more than metadata ($form)',
    async (kind) => {
      const t = setUp()
      const informer = t.informers.informer(kind, { fieldSelector: 'metadata.namespace=default,data.value=1' })
      const model = new EventModel(informer)
      for (const name of ['stays', 'leaves']) t.api.seed(ConfigMap, map(name, '1'))
      t.api.seed(ConfigMap, map('comes', '2'))
      await t.start()
      t.api.holdWatches()
      const values = { stays: '1', leaves: '2', comes: '1' }
      for (const [name, value] of Object.entries(values)) {
        const annotations = { note: 'x' }
        await t.client.patch(
          metadataOf(ConfigMap),
          ref(name),
          mergePatch({ metadata: { annotations }, data: { value } }),
        )
        // Nothing from before the write.
        expect(informer.cache.get(ref(name))?.metadata.annotations ?? annotations).toEqual(annotations)
      }
      t.api.releaseWatches()
      await settle()
      expect(informer.cache.list().map(({ metadata }) => metadata.name)).toEqual(['stays', 'comes'])
      expect([...model.objects.keys()]).toEqual(['default/stays', 'default/comes'])
      expect(model.complaints).toEqual([])
      await t.expectClean()
    },
  )

  it('reach every informer of the resource, in its own form', async () => {
    const t = setUp()
    const metadata = t.informers.informer(metadataOf(ConfigMap))
    const elsewhere = t.informers.informer(ConfigMap, { namespace: 'elsewhere' })
    await t.start()
    t.api.holdWatches()
    await t.client.create(ConfigMap, map('a'))
    const cached = metadata.cache.get(ref('a'))
    expect(cached).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    expect(cached).not.toHaveProperty('data')
    expect(elsewhere.cache.size).toBe(0)
    t.api.releaseWatches()
    await t.expectClean()
  })
})

describe('shared informers', () => {
  it('are one for each kind, form and selection', () => {
    const { informers, informer } = setUp()
    expect(informers.informer(ConfigMap, { labelSelector: '' })).toBe(informer)
    expect(informers.informer(ConfigMap, { namespace: 'default' })).not.toBe(informer)
    expect(informers.informer(metadataOf(ConfigMap))).not.toBe(informer)
    expect(informers.health()).toHaveLength(3)
  })

  it('start late when asked for late, and replay what is there to who subscribes late', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    const late = t.informers.informer(metadataOf(ConfigMap))
    await t.informers.whenSynced()
    expect(t.informers.health().map(({ synced, health }) => [synced, health.state])).toEqual([
      [true, 'live'],
      [true, 'live'],
    ])
    const seen: unknown[] = []
    const end = late.subscribe((event) => seen.push(event))
    t.api.seed(ConfigMap, map('a', '2'))
    await settle()
    end()
    t.api.seed(ConfigMap, map('a', '3'))
    await settle()
    expect(seen).toMatchObject([
      { type: 'added', initial: true, object: { metadata: { name: 'a' } } },
      { type: 'modified', object: { metadata: { resourceVersion: '3' } }, old: { metadata: { resourceVersion: '2' } } },
    ])
    await t.expectClean()
  })

  it('count their lists and restarts', async () => {
    const counts: Record<string, number> = {}
    const family = (name: string) => ({
      with: ({ kind }: Labels) => ({ inc: () => (counts[`${name} ${kind}`] = (counts[`${name} ${kind}`] ?? 0) + 1) }),
      remove: () => undefined,
    })
    const t = setUp({ informers: { metrics: { ...noMetrics, counter: ({ name }) => family(name) } } })
    await t.start()
    t.api.dropWatches()
    await t.clock.advance(1000)
    expect(counts).toEqual({
      'tenure_informer_lists_total configmaps/v1': 1,
      'tenure_informer_watch_restarts_total configmaps/v1': 1,
      'tenure_informer_failures_total configmaps/v1': 1,
    })
    await t.expectClean()
  })

  it('go on when a handler throws, and log it', async () => {
    const errors: unknown[] = []
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (_message: string, facts?: Readonly<Record<string, unknown>>) => errors.push(facts?.['error']),
      child: () => log,
    }
    const t = setUp({ informers: { log } })
    t.informer.subscribe(() => {
      throw new TypeError('my bug')
    })
    const after: string[] = []
    t.informer.subscribe((event) => after.push(event.type))
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    expect(errors).toEqual([new TypeError('my bug')])
    expect(after).toEqual(['added'])
    await t.expectClean()
  })

  it('give out objects that can not be changed, without the managedFields of others', async () => {
    const t = setUp({ informers: { keepManagedFieldsOf: ['me'] } })
    await t.start()
    await t.client.apply(ConfigMap, map('a'), { fieldManager: 'me' })
    await t.client.apply(ConfigMap, map('a', '1', { more: 'x' }), { fieldManager: 'you' })
    await settle()
    const cached = t.informer.cache.get(ref('a'))
    expect(cached?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['me'])
    expect(() => Object.assign(cached?.data ?? {}, { value: '2' })).toThrow(TypeError)
    await t.expectClean()
  })
})
