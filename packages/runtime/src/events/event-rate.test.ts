import { settle } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { about, ready, web, setup } from './events.testing.ts'

describe('rate limit', () => {
  test('a burst is written at once and the rest at the rate', async () => {
    const { recorder, clock, writes } = setup()
    for (let i = 0; i < 100; i++) recorder.record(about(`o${i}`), ready)
    await settle()
    expect([writes().length, recorder.pending]).toEqual([50, 50])
    // One timer is for the rate, the other for the series.
    expect(clock.pending).toBe(2)
    await clock.advance(49)
    expect(writes()).toHaveLength(50)
    await clock.advance(1)
    expect(writes()).toHaveLength(51)
    await clock.advance(1_000)
    expect(writes()).toHaveLength(71)
    await clock.advance(29 * 50)
    expect([writes().length, recorder.pending]).toEqual([100, 0])
    expect(clock.pending).toBe(1)
    // Unused tokens accumulate up to the burst.
    await clock.advance(60_000)
    for (let i = 0; i < 60; i++) recorder.record(about(`p${i}`), ready)
    await settle()
    expect(writes()).toHaveLength(150)
  })

  test('any rate is respected, and an infinite burst disables the limit', async () => {
    const odd = setup({ burst: 2, rate: 7 })
    for (let i = 0; i < 37; i++) odd.recorder.record(about(`o${i}`), ready)
    await odd.clock.advance(4_999)
    expect(odd.writes()).toHaveLength(36)
    await odd.clock.advance(2)
    expect(odd.writes()).toHaveLength(37)

    const free = setup({ burst: Infinity })
    for (let i = 0; i < 500; i++) free.recorder.record(about(`o${i}`), ready)
    await settle()
    expect(free.writes()).toHaveLength(500)
  })

  test('repetitions of a queued event are counted', async () => {
    const { recorder, clock, events, writes } = setup({ burst: 1 })
    recorder.record(about('first'), ready)
    for (let i = 0; i < 5; i++) recorder.record(web, ready)
    await clock.advance(1_000)
    expect(writes()).toEqual(['create', 'create'])
    expect(events()).toMatchObject([{}, { series: { count: 5 } }])
  })

  test('warnings are written first and dropped last', async () => {
    const { recorder, clock, events, dropped } = setup({ burst: 1, buffer: 4 })
    const names = (): readonly (string | undefined)[] =>
      events()
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ regarding }) => regarding?.name)
    const wrong = { type: 'Warning', reason: 'Wrong', message: 'It does not.' } as const
    recorder.record(about('first'), ready)
    for (const name of ['a', 'b']) recorder.record(about(name), ready)
    for (const name of ['c', 'd']) recorder.record(about(name), wrong)
    await clock.advance(50)
    expect(names()).toEqual(['first', 'c'])
    for (const name of ['e', 'f', 'g']) recorder.record(about(name), wrong)
    expect(dropped).toEqual({ buffer: 2 })
    recorder.record(about('h'), ready)
    expect(dropped).toEqual({ buffer: 3 })
    await clock.advance(1_000)
    expect(names()).toEqual(['first', 'c', 'd', 'e', 'f', 'g'])
    // Events of one type keep their order.
    for (const name of ['i', 'j', 'k']) recorder.record(about(name), ready)
    await clock.advance(1_000)
    expect(names().slice(-3)).toEqual(['i', 'j', 'k'])
  })

  test('a flush ignores the rate, which applies again afterwards', async () => {
    const { recorder, clock, api, writes } = setup({ burst: 1 })
    const recordAll = (count: number, prefix: string): void => {
      for (let i = 0; i < count; i++) recorder.record(about(`${prefix}${i}`), ready)
    }
    recordAll(100, 'o')
    await recorder.flush()
    expect([writes().length, recorder.pending]).toEqual([100, 0])
    expect(clock.pending).toBe(1)

    // Events that a flush did not finish in time are written at the rate again.
    api.delayResponses(() => 100)
    recordAll(40, 'p')
    const flushing = recorder.flush(450)
    await clock.advance(450)
    await flushing
    expect(writes()).toHaveLength(120)
    api.delayResponses(undefined)
    await clock.advance(50)
    const before = writes().length
    await clock.advance(500)
    expect(writes().length - before).toBe(10)
    await clock.advance(1_000)
    expect(recorder.pending).toBe(0)
  })

  test('close ignores the rate and leaves no timer', async () => {
    const quick = setup({ burst: 1 })
    for (let i = 0; i < 100; i++) quick.recorder.record(about(`o${i}`), ready)
    await settle()
    expect(quick.recorder.pending).toBe(99)
    await quick.recorder.close()
    expect(quick.events()).toHaveLength(100)
    expect(quick.dropped).toEqual({})
    expect(quick.clock.pending).toBe(0)

    const slow = setup({ burst: 1 })
    slow.api.delayResponses(() => 3_600_000)
    for (let i = 0; i < 100; i++) slow.recorder.record(about(`o${i}`), ready)
    const closing = slow.recorder.close(1_000)
    await slow.clock.advance(1_000)
    await closing
    await settle()
    expect(slow.dropped).toEqual({ closed: 100 })
    expect([slow.recorder.pending, slow.recorder.seriesCount, slow.clock.pending]).toEqual([0, 0, 0])
  })
})
