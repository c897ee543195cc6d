import { settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { refuse } from '../testing/responses.ts'
import { kubeEvent } from './event.ts'
import { about, ready, web, setup } from './events.testing.ts'

describe('EventRecorder', () => {
  test('an event has all fields that events.k8s.io requires', async () => {
    const { recorder, events, clock } = setup()
    recorder.record(web, { ...ready, related: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } } })
    await settle()
    expect(events()).toMatchObject([
      {
        metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'example.dev/websites',
        reportingInstance: 'pod-1',
        type: 'Normal',
        reason: 'Ready',
        action: 'Ready',
        note: 'The website is served.',
        regarding: { apiVersion: 'example.dev/v1', kind: 'Website', namespace: 'shop', name: 'web', uid: 'u-1' },
        related: { apiVersion: 'v1', kind: 'Pod', name: 'p' },
      },
    ])
    expect(events()[0]).not.toHaveProperty('series')
    await recorder.close()
    expect(clock.pending).toBe(0)
  })

  test('repetitions form a series that ends after six quiet minutes', async () => {
    const { recorder, events, clock, writes } = setup()
    recorder.record(web, ready)
    await settle()
    await clock.advance(60_000)
    // A different resourceVersion does not make a different event.
    recorder.record({ ...web, metadata: { ...web.metadata, resourceVersion: '8' } }, ready)
    await settle()
    expect(events()).toMatchObject([
      { note: 'The website is served.', series: { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' } },
    ])
    await clock.advance(360_001)
    expect(recorder.seriesCount).toBe(0)
    expect(clock.pending).toBe(0)
    recorder.record(web, ready)
    await settle()
    expect(writes()).toEqual(['create', 'patch', 'create'])
    expect(events()).toHaveLength(2)
  })

  test('an event with another message is another Event, because the note of an Event cannot change', async () => {
    const { recorder, events, writes } = setup()
    const scaled = { type: 'Normal', reason: 'Scaled' } as const
    recorder.record(web, { ...scaled, message: 'To 3.' })
    recorder.record(web, { ...scaled, message: 'To 5.' })
    await settle()
    recorder.record(web, { ...scaled, message: 'To 3.', count: 4 })
    await settle()
    expect(writes()).toEqual(['create', 'create', 'patch'])
    const counts = Object.fromEntries(events().map(({ note = '', series }) => [note, series?.count ?? 1]))
    expect(counts).toEqual({ 'To 3.': 5, 'To 5.': 1 })
  })

  test('without a token for another Event, the latest one of that reason counts the occurrence', async () => {
    const { recorder, events, clock, dropped } = setup()
    for (let i = 0; i < 40; i++) recorder.record(web, { ...ready, message: `Message ${i}.`, count: 2 })
    await settle()
    expect(events()).toHaveLength(25)
    await clock.advance(360_001)
    expect(events().find(({ note }) => note === 'Message 24.')).toMatchObject({ series: { count: 32 } })
    expect(dropped).toEqual({})
    expect(recorder.seriesCount).toBe(0)
  })

  test('events that differ in object, reason, type, action or related are separate', async () => {
    const { recorder, events } = setup()
    recorder.record(web, ready)
    recorder.record(about('other'), ready)
    recorder.record({ ...web, metadata: { ...web.metadata, uid: 'u-2' } }, ready)
    recorder.record(web, { ...ready, reason: 'Else' })
    recorder.record(web, { ...ready, type: 'Warning' })
    recorder.record(web, { ...ready, action: 'Start' })
    recorder.record(web, { ...ready, related: about('r') })
    await settle()
    expect(events()).toHaveLength(7)
  })

  test('record never blocks, and repetitions during a write become one patch', async () => {
    const { recorder, events, clock, api, writes } = setup()
    api.delayResponses(() => 1_000)
    for (let i = 0; i < 10; i++) recorder.record(web, ready)
    await clock.advance(5_000)
    expect(writes()).toEqual(['create', 'patch'])
    expect(events()).toMatchObject([{ series: { count: 10 } }])
  })

  test('spam about one object is limited, and the final count is right', async () => {
    const { recorder, events, clock, dropped, writes } = setup()
    for (let i = 0; i < 100; i++) {
      recorder.record(web, ready)
      await settle()
    }
    expect(writes()).toHaveLength(25)
    for (let i = 0; i < 10; i++) recorder.record(web, { ...ready, reason: `Reason${i}` })
    recorder.record(about('other'), ready)
    await settle()
    expect(dropped).toEqual({ spam: 10 })
    expect(events()).toHaveLength(2)
    await clock.advance(360_001)
    const written = events().find((event) => event.regarding?.name === 'web')
    expect(written).toMatchObject({ series: { count: 100 } })
    // One token comes back every five minutes.
    recorder.record(web, { ...ready, reason: 'Later' })
    recorder.record(web, { ...ready, reason: 'TooSoon' })
    await settle()
    expect(dropped).toEqual({ spam: 11 })
  })

  test('events about cluster-scoped objects are created in default', async () => {
    const { recorder, events } = setup()
    recorder.record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'n' } }, ready)
    await settle()
    expect(events()).toMatchObject([
      { metadata: { namespace: 'default' }, regarding: { kind: 'Node', name: 'node-1' } },
    ])
  })

  test('failed writes are retried a bounded number of times and logged once', async () => {
    const { recorder, events, clock, api, dropped, warnings } = setup()
    const end = api.intercept(() => 'drop')
    recorder.record(web, ready)
    await clock.advance(5_000)
    end()
    await clock.advance(20_000)
    expect(events()).toHaveLength(1)
    api.intercept(() => 'drop')
    for (let i = 0; i < 5; i++) recorder.record(about(`o${i}`), ready)
    api.clearRequests()
    await clock.advance(120_000)
    expect(api.requests).toHaveLength(30)
    expect(dropped).toEqual({ failed: 5 })
    expect(warnings).toHaveLength(1)
    expect(recorder.pending).toBe(0)
  })

  test('a hanging request times out, and an event whose response was lost is written once', async () => {
    const { recorder, events, clock, api } = setup()
    let first = true
    api.intercept(() => {
      if (!first) return undefined
      first = false
      return 'drop-response'
    })
    recorder.record(web, ready)
    recorder.record(web, ready)
    await clock.advance(60_000)
    expect(events()).toHaveLength(1)
    expect(events()).toMatchObject([{ series: { count: 2 } }])
    api.delayResponses(() => 3_600_000)
    recorder.record(about('hangs'), ready)
    await clock.advance(200_000)
    expect(recorder.pending).toBe(0)
  })

  test('Retry-After is respected', async () => {
    const { recorder, events, clock, api } = setup()
    let times = 0
    api.intercept(() => (times++ === 0 ? refuse(429, 'TooManyRequests', 'slow down', 20) : undefined))
    recorder.record(web, ready)
    await clock.advance(19_000)
    expect(times).toBe(1)
    await clock.advance(5_000)
    expect(events()).toHaveLength(1)
  })

  test('an expired event (404, 410) is created again when it repeats', async () => {
    for (const status of [404, 410]) {
      const { recorder, events, api } = setup()
      recorder.record(web, ready)
      await settle()
      const name = events()[0]?.metadata.name ?? ''
      api.unseed(kubeEvent, { namespace: 'shop', name })
      api.intercept(({ verb }) => (verb === 'patch' ? refuse(status, status === 404 ? 'NotFound' : 'Gone') : undefined))
      recorder.record(web, ready)
      await settle()
      expect(events()).toMatchObject([{ series: { count: 2 } }])
      expect(events()[0]?.metadata.name).not.toBe(name)
    }
  })

  test('events rejected for their namespace or content are dropped without retry', async () => {
    const terminating = {
      kind: 'Status',
      reason: 'Forbidden',
      code: 403,
      message: 'namespace is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', message: 'x', field: 'metadata.namespace' }] },
    }
    const { recorder, clock, api, dropped, warnings } = setup()
    const answers = [
      {
        ...refuse(403, 'Forbidden'),
        body: { ...refuse(403, 'x').body, text: () => Promise.resolve(JSON.stringify(terminating)) },
      },
      refuse(404, 'NotFound'),
      refuse(422, 'Invalid'),
    ]
    api.intercept(() => answers.shift())
    for (const name of ['a', 'b', 'c', 'd']) recorder.record(about(name), ready)
    await settle()
    expect(dropped).toEqual({ namespace: 2, failed: 1 })
    expect(warnings).toHaveLength(1)
    expect(api.requests).toHaveLength(4)
    await clock.advance(60_000)
    expect(api.requests).toHaveLength(4)
  })

  test('a full buffer drops the oldest events, and the number of series is bounded', async () => {
    const { recorder, clock, api, dropped } = setup({ buffer: 10 })
    api.delayResponses(() => 100)
    for (let i = 0; i < 100; i++) recorder.record(about(`o${i}`), ready)
    expect(recorder.pending).toBe(14)
    await clock.advance(10_000)
    expect(dropped).toEqual({ buffer: 86 })
    const written = api.objects(kubeEvent).map((event) => event.regarding?.name)
    expect(written).toContain('o99')
    expect(written).not.toContain('o50')
    api.delayResponses(undefined)
    for (let i = 0; i < 5_000; i++) recorder.record(about(`p${i}`), ready)
    expect(recorder.seriesCount).toBeLessThanOrEqual(4_096)
  })

  test('record never throws', async () => {
    const { recorder, dropped, warnings } = setup()
    recorder.record({}, ready)
    recorder.record(web, { ...ready, reason: '' })
    recorder.record(web, undefined as never)
    await settle()
    expect(dropped).toEqual({ invalid: 3 })
    expect(warnings).toHaveLength(1)
    expect(recorder.pending).toBe(0)
  })

  test('close writes everything, or aborts at its deadline', async () => {
    const quick = setup()
    for (let i = 0; i < 30; i++) quick.recorder.record(web, ready)
    await settle()
    quick.recorder.record(web, ready)
    await quick.recorder.close()
    expect(quick.events()).toMatchObject([{ series: { count: 31 } }])
    expect(quick.clock.pending).toBe(0)
    quick.recorder.record(web, ready)
    expect(quick.dropped).toEqual({ closed: 1 })

    const slow = setup()
    slow.api.delayResponses(() => 3_600_000)
    for (let i = 0; i < 8; i++) slow.recorder.record(about(`o${i}`), ready)
    let closed = false
    const closing = (async () => {
      await slow.recorder.close(2_000)
      closed = true
    })()
    await slow.clock.advance(1_999)
    expect(closed).toBe(false)
    await slow.clock.advance(1)
    await closing
    await settle()
    expect(slow.recorder.pending).toBe(0)
    expect(slow.dropped).toEqual({ closed: 8 })
    expect(slow.clock.pending).toBe(0)
  })
})
