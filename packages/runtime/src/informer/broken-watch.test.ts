import { settle } from '@tenure/kube/testing'
import { describe, expect, test, vi } from 'vitest'
import { refuse } from '../testing/responses.ts'
import { ConfigMap, linesBody, map, ref, setUp, stalledBody, streamed, textBody } from './informer.testing.ts'
import { ObjectTransform } from './cache/transform.ts'

describe('a watch that breaks', () => {
  test('a watch that breaks during the initial state shows none of it', async () => {
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

  test('a watch resumes from the last resourceVersion after a lost connection', async () => {
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

  test('the informer is live again as soon as the server accepts the watch', async () => {
    const t = setUp({ server: { bookmarkEvery: 0 } })
    await t.start()
    t.api.dropWatches()
    await t.clock.advance(1000)
    expect(t.informer.health.state).toBe('live')
    await t.expectClean()
  })

  test('missing bookmarks reveal a half-open connection', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    // Bookmarks keep a quiet watch alive, far beyond the idle timeout.
    await t.clock.advance(200_000)
    expect(t.verbs()).toEqual(['list', 'watch'])
    t.api.stallWatches()
    t.api.seed(ConfigMap, map('b'))
    // The last bookmark arrived 20 seconds ago.
    await t.clock.advance(129_000)
    expect(t.informer.cache.size).toBe(1)
    await t.clock.advance(3000)
    expect(t.informer.cache.size).toBe(2)
    expect(t.verbs()).toEqual(['list', 'watch', 'watch'])
    await t.expectClean()
  })

  test('a quiet watch without bookmarks does not cause repeated lists', async () => {
    const t = setUp({ server: { bookmarkEvery: 0 } })
    await t.start()
    await t.clock.advance(1_200_000)
    expect(t.verbs().filter((verb) => verb !== 'watch')).toEqual(['list'])
    await t.expectClean()
  })

  test('the informer lists when a resumed watch delivers nothing, as after a restore from a backup', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    t.api.injectWatchLine({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '1000' } } })
    await settle()
    t.api.dropWatches()
    // Real servers behave like this for a future version.
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

  test('a watch that the server ends restarts at once and is not an error', async () => {
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

  test('a server that ends watches at once is retried with backoff and reported', async () => {
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

  test.each([
    { expiry: 'stream', initialEvents: false, verbs: ['list', 'watch', 'watch', 'list', 'watch'] },
    { expiry: 'status', initialEvents: false, verbs: ['list', 'watch', 'watch', 'list', 'watch'] },
    { expiry: 'stream', initialEvents: true, verbs: ['stream', 'watch', 'stream'] },
    { expiry: 'status', initialEvents: true, verbs: ['stream', 'watch', 'stream'] },
  ] as const)(
    'a 410 by $expiry leads to a relist that publishes the difference: $verbs',
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
      // Unchanged objects stay the same: a relist costs no memory.
      expect(t.informer.cache.get(ref('same'))).toBe(same)
      expect(t.informer.health.state).toBe('live')
      await t.expectClean()
    },
  )

  test.each([
    ['a Status', { kind: 'Status', metadata: {}, status: 'Success' }, 'TENURE_LIST_UNREADABLE'],
    ['one object', { kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '9' } }, 'TENURE_LIST_UNREADABLE'],
    ['a list without a version', { metadata: {}, items: [] }, 'TENURE_LIST_UNVERSIONED'],
  ])('a relist that returns %s deletes nothing', async (_what, answer, code) => {
    const t = setUp()
    for (const name of ['a', 'b']) t.api.seed(ConfigMap, map(name))
    await t.start()
    const end = t.api.intercept(({ verb, query }) => {
      // Pages fail as well, with a different message.
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

  test('the cache stays complete during a relist', async () => {
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

  test.each([429, 500, 503])('a %i delays the retry by Retry-After', async (status) => {
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

  test('the backoff grows from 0.8 to 30 seconds with jitter and resets after a healthy watch', async () => {
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

  test('JSON may be split at any byte', async () => {
    const t = setUp({ server: { watchChunkBytes: 1 } })
    t.api.seed(ConfigMap, map('a', 'grüße 🦀\n"{'))
    await t.start()
    await t.clock.advanceUntil(() => t.informer.synced)
    for (let value = 0; value < 5; value++) t.api.seed(ConfigMap, map('a', `é${value}🦀`))
    await t.expectClean()
    expect(t.model.log).toHaveLength(6)
  })

  test('garbage in the stream counts as a broken connection', async () => {
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

  test.each(['added', 'deleted'])('an event that could not be applied is delivered again: %s', async (type) => {
    const t = setUp()
    if (type === 'deleted') t.api.seed(ConfigMap, map('a'))
    await t.start()
    const inPlace = vi.spyOn(ObjectTransform.prototype, 'inPlace').mockImplementationOnce(() => {
      throw new TypeError('a bug')
    })
    if (type === 'deleted') t.api.unseed(ConfigMap, ref('a'))
    else t.api.seed(ConfigMap, map('a'))
    await settle()
    expect(t.informer.health).toMatchObject({ state: 'down', error: { message: 'a bug' } })
    await t.clock.advance(1000)
    expect(t.model.log.map((line) => line.split(' ')[0]).at(-1)).toBe(type)
    expect(t.verbs()).toEqual(['list', 'watch', 'watch'])
    inPlace.mockRestore()
    await t.expectClean()
  })

  test('repeated failures at one version lead to a list', async () => {
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

  test('a stale list is ignored unless the server keeps returning it', async () => {
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
    t.model.problems.length = 0
    t.api.seed(ConfigMap, map('a', '4'))
    await t.expectClean()
  })
})
