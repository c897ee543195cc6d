import { settle } from '@tenure/kube/testing'
import { describe, expect, test, vi } from 'vitest'
import { refuse } from '../testing/responses.ts'
import { ConfigMap, map, ref, setUp, stalledBody, streamed, textBody } from './informer.testing.ts'

describe('initial state', () => {
  test('the informer lists and watches from there', async () => {
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

  test.each([
    '{"kind":"ConfigMapList","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"a"',
    'not a list',
  ])('a list that arrives as %s is read in pages', async (body) => {
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
  })

  test('a partial list is read in pages', async () => {
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

  test('the list request names the managers whose managedFields are kept', async () => {
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
    // The managedFields of others need not even be parsed.
    expect(list.mock.calls[0]?.[1]).toMatchObject({ managedFieldsOf: ['me'] })
    await t.expectClean()
  })

  test('a list that stalls is requested again', async () => {
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

  test('initialEvents reads the state and the changes from one watch', async () => {
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

  test.each([
    { initialEvents: 'refuse', waits: 0 },
    { initialEvents: 'ignore', waits: 10_000 },
  ] as const)(
    'a server that would $initialEvents the initial events is listed in pages',
    async ({ initialEvents, waits }) => {
      const t = setUp({ server: { initialEvents }, informers: { ...streamed, pageSize: 2 } })
      for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
      await t.start()
      await t.clock.advance(waits)
      expect(t.informer.synced).toBe(true)
      expect(t.verbs()).toEqual(['stream', 'list', 'page', 'watch'])
      // The informer remembers that.
      t.api.compact()
      t.api.seed(ConfigMap, map('d'))
      t.api.clearRequests()
      t.api.injectWatchLine({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
      await settle()
      expect(t.verbs()).toEqual(['list', 'page', 'watch'])
      await t.expectClean()
    },
  )

  test('a busy server that ignores sendInitialEvents is listed after a time limit', async () => {
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

  test('an expired continue token leads to a full list', async () => {
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

  test('the informer waits for a missing kind and reports it', async () => {
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

  test('whenSynced rejects only on abort', async () => {
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
