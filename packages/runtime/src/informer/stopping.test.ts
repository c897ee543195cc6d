import { settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { ConfigMap, map, setUp, stalledBody, streamed } from './informer.testing.ts'

describe('stopping', () => {
  test.each([
    ['while the watch is being opened', 'serve', 0],
    ['between two pages', 'refuse', 150],
    ['while it waits for the end of the initial events', 'ignore', 5000],
  ] as const)('stopping leaves nothing behind %s', async (_when, initialEvents, after) => {
    const t = setUp({ server: { initialEvents }, informers: { ...streamed, pageSize: 1 } })
    for (const name of ['a', 'b', 'c']) t.api.seed(ConfigMap, map(name))
    t.api.delayResponses(({ verb }) => (verb === 'list' || after === 0 ? 100 : 0))
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

  test('stopping leaves nothing behind during a list', async () => {
    const t = setUp()
    t.api.intercept(() => ({ status: 200, headers: {}, body: stalledBody('{"kind":"ConfigMapList",') }))
    await t.start()
    expect(t.clock.pending).toBe(1)
    t.stop.abort(new Error('stop'))
    await t.informers.whenStopped()
    expect(t.clock.pending).toBe(0)
  })

  test('stopping leaves nothing behind during backoff, and later writes are ignored', async () => {
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
