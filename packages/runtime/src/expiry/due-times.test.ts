import { VirtualClock } from '@tenure/kube/testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DueTimes } from './due-times.ts'

function start() {
  const clock = new VirtualClock()
  const calls: { key: string; at: number }[] = []
  const times = new DueTimes({ clock, onDue: (key) => void calls.push({ key, at: clock.now() }) })
  times.start()
  return { clock, calls, times }
}

describe('DueTimes', () => {
  test('keys are called exactly when due, oldest first, with one timer for all', async () => {
    const { clock, calls, times } = start()
    const start0 = clock.now()
    for (const [key, after] of [
      ['c', 3_000],
      ['a', 1_000],
      ['b', 2_000],
    ] as const)
      times.set(key, start0 + after)
    expect(clock.pending).toBe(1)
    expect(times.next()).toEqual({ key: 'a', due: start0 + 1_000 })
    await clock.advance(10_000)
    expect(calls).toEqual([
      { key: 'a', at: start0 + 1_000 },
      { key: 'b', at: start0 + 2_000 },
      { key: 'c', at: start0 + 3_000 },
    ])
    expect(clock.pending).toBe(0)
  })

  test('a key counts until it is deleted, and is called again only for another time', async () => {
    const { clock, calls, times } = start()
    const due = clock.now()
    times.set('a', due)
    expect([calls.length, times.size]).toEqual([1, 1])
    times.set('a', due)
    expect([calls.length, times.size]).toEqual([1, 1])
    times.set('a', due + 1_000)
    await clock.advance(1_000)
    expect(calls).toHaveLength(2)
    times.delete('a')
    expect(times.size).toBe(0)
  })

  test('the overdue keys of a long sleep are called in the order of their due times', async () => {
    const { clock, calls, times } = start()
    for (let i = 0; i < 50; i++) times.set(`k${i}`, clock.now() + 3_600_000 - ((i * 7) % 50))
    clock.jump(7_200_000)
    await clock.advance(1_000)
    const order = calls.map(({ key }) => (Number(key.slice(1)) * 7) % 50)
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => 49 - i))
  })

  test('a key is not called early when the wall clock jumps back', async () => {
    const { clock, calls, times } = start()
    const due = clock.now() + 5_000
    times.set('a', due)
    await clock.advance(4_000)
    clock.jump(-60_000)
    await clock.advance(60_999)
    expect(calls).toEqual([])
    await clock.advance(1)
    expect(calls).toEqual([{ key: 'a', at: due }])
  })

  test('a key is called at most a second late when the wall clock jumps forward', async () => {
    const { clock, calls, times } = start()
    times.set('a', clock.now() + 86_400_000)
    await clock.advance(1)
    clock.jump(86_400_000)
    const jumped = clock.monotonic()
    await clock.advanceUntil(() => calls.length === 1)
    expect(clock.monotonic() - jumped).toBeLessThanOrEqual(1_000)
  })

  test('a far due time does not overflow the timer', async () => {
    const { clock, calls, times } = start()
    times.set('a', Number.MAX_SAFE_INTEGER)
    times.set('never', Infinity)
    await clock.advance(3_000)
    expect(calls).toEqual([])
    expect(clock.untilNext).toBeLessThanOrEqual(1_000)
  })

  test('a due time that is not a number is rejected', () => {
    const { times } = start()
    expect(() => times.set('a', Number.NaN)).toThrow('not a number')
  })

  test('a stopped instance calls nothing and keeps its due times', async () => {
    const { clock, calls, times } = start()
    times.set('a', clock.now() + 1_000)
    times.stop()
    await clock.advance(5_000)
    expect([calls.length, times.size, clock.pending]).toEqual([0, 1, 0])
    times.start()
    expect(calls).toHaveLength(1)
  })

  test('no call is early and none is lost, whatever is set, deleted and jumps', async () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd')
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ op: fc.constant('set' as const), key, after: fc.integer({ min: -5_000, max: 8_000 }) }),
      },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), key }) },
      {
        weight: 4,
        arbitrary: fc.record({ op: fc.constant('advance' as const), by: fc.integer({ min: 0, max: 4_000 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ op: fc.constant('jump' as const), by: fc.integer({ min: -20_000, max: 20_000 }) }),
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const clock = new VirtualClock()
        /** Due times that no call has answered since they were set. */
        const open = new Map<string, number>()
        const answered = new Map<string, number>()
        const early: string[] = []
        const times = new DueTimes({
          clock,
          onDue(key) {
            const due = open.get(key)
            if (due === undefined || clock.now() < due) early.push(`${key} at ${clock.now()}, due ${due}`)
            else answered.set(key, due)
            open.delete(key)
          },
        })
        times.start()
        for (const step of steps) {
          if (step.op === 'set') {
            const due = clock.now() + step.after
            if (answered.get(step.key) !== due) open.set(step.key, due)
            if (answered.get(step.key) !== due) answered.delete(step.key)
            times.set(step.key, due)
          } else if (step.op === 'delete') {
            open.delete(step.key)
            answered.delete(step.key)
            times.delete(step.key)
          } else if (step.op === 'advance') {
            await clock.advance(step.by)
          } else {
            clock.jump(step.by)
          }
        }
        // Enough for every due time and every jump back.
        await clock.advance(200_000)
        expect(early).toEqual([])
        expect([...open.keys()]).toEqual([])
        times.stop()
        expect(clock.pending).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})
