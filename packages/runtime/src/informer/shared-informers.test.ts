import { metadataOf } from '@tenure/kube'
import { settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { type MetricLabels, noMetrics } from '../metrics/metrics.ts'
import { ConfigMap, type Map, map, ref, setUp } from './informer.testing.ts'

describe('shared informers', () => {
  test('there is one informer per kind, form and selection', () => {
    const { informers, informer } = setUp()
    expect(informers.informer(ConfigMap, { labelSelector: '' })).toBe(informer)
    expect(informers.informer(ConfigMap, { namespace: 'default' })).not.toBe(informer)
    expect(informers.informer(metadataOf(ConfigMap))).not.toBe(informer)
    expect(informers.health()).toHaveLength(3)
  })

  test('an informer can be requested after the start, and late subscribers get a replay', async () => {
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

  test('a subscriber without a replay gets the first list if it comes later, and changes alone otherwise', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    const early: string[] = []
    const late: string[] = []
    t.informer.subscribe(({ object, type }) => early.push(`${type} ${object.metadata.name}`), { replay: false })
    await t.start()
    t.informer.subscribe(({ object, type }) => late.push(`${type} ${object.metadata.name}`), { replay: false })
    t.api.seed(ConfigMap, map('b'))
    await settle()
    expect(early).toEqual(['added a', 'added b'])
    expect(late).toEqual(['added b'])
    await t.expectClean()
  })

  test('lists and restarts are counted', async () => {
    const counts: Record<string, number> = {}
    const family = (name: string) => ({
      with: ({ kind }: MetricLabels) => ({
        inc: () => (counts[`${name} ${kind}`] = (counts[`${name} ${kind}`] ?? 0) + 1),
      }),
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

  test('a handler that throws is logged and does not stop the informer', async () => {
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

  test('cached objects are frozen and lack the managedFields of others', async () => {
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

  test('after a conflict the cache shows the newest state, although the watch is late', async () => {
    const t = setUp()
    t.api.seed(ConfigMap, map('a'))
    t.api.seed(ConfigMap, map('b'))
    await t.start()
    t.api.holdWatches()
    const [a, b] = [t.informer.cache.get(ref('a')), t.informer.cache.get(ref('b'))]
    t.api.seed(ConfigMap, map('a', 'newest'))
    t.api.unseed(ConfigMap, ref('b'))
    t.api.seed(ConfigMap, map('b', 'another object'))
    await expect(t.client.update<Map>(ConfigMap, { ...a, data: {} })).rejects.toThrow('modified')
    const uid = b?.metadata.uid
    await expect(t.client.delete(ConfigMap, ref('b'), { preconditions: { uid } })).rejects.toThrow('Precondition')
    expect(t.informer.cache.list().map(({ data }) => data?.['value'])).toEqual(['newest', 'another object'])
    t.api.releaseWatches()
    await t.expectClean()
  })

  test('a conflict about an object that no cache shows costs no read', async () => {
    const t = setUp({ selection: { namespace: 'elsewhere' } })
    t.api.seed(ConfigMap, map('a'))
    await t.start()
    const a = await t.client.get(ConfigMap, ref('a'))
    t.api.seed(ConfigMap, map('a', '2'))
    const before = t.api.requests.length
    await expect(t.client.update(ConfigMap, a)).rejects.toThrow('modified')
    expect(t.verbs().slice(before)).toEqual(['update'])
  })
})
