import { ApiError } from '@tenure/kube'
import { VirtualClock, seededRandom, settle } from '@tenure/kube/testing'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { Again, ExpiryOptions } from './expiry.ts'
import { Expiry } from './expiry.ts'

const stops: AbortController[] = []
afterEach(() => stops.splice(0).forEach((stop) => stop.abort()))

function start(options: Partial<ExpiryOptions> = {}) {
  const clock = new VirtualClock()
  const calls: { key: string; at: number }[] = []
  const stop = new AbortController()
  stops.push(stop)
  const { onDue = () => Promise.resolve(), ...rest } = options
  const expiry = new Expiry({
    clock,
    random: seededRandom(),
    onDue: (key, signal) => {
      calls.push({ key, at: clock.now() })
      return onDue(key, signal)
    },
    ...rest,
  })
  const ended = expiry.run(stop.signal)
  return { clock, calls, stop, expiry, ended }
}

const deferred = () => Promise.withResolvers<Again | void>()

describe('Expiry', () => {
  it('calls oldest first, exactly when due, with one timer for all', async () => {
    const { clock, calls, expiry } = start()
    const t0 = clock.now()
    for (const [key, after] of [
      ['c', 3_000],
      ['a', 1_000],
      ['b', 2_000],
    ] as const)
      expiry.set(key, t0 + after)
    expect(clock.pending).toBe(1)
    expect(expiry.next()).toEqual({ key: 'a', due: t0 + 1_000 })
    await clock.advance(10_000)
    expect(calls).toEqual([
      { key: 'a', at: t0 + 1_000 },
      { key: 'b', at: t0 + 2_000 },
      { key: 'c', at: t0 + 3_000 },
    ])
    expect(expiry.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('counts a key once while it is called, also one that is set again, and not one that is deleted', async () => {
    const call = deferred()
    const { clock, expiry } = start({ onDue: () => call.promise })
    expiry.set('a', clock.now())
    await settle()
    expect(expiry.size).toBe(1)
    expiry.set('a', clock.now() + 1_000)
    expect(expiry.size).toBe(1)
    expiry.delete('a')
    expect(expiry.size).toBe(0)
    call.resolve()
    await settle()
    expect(expiry.size).toBe(0)
  })

  it('calls the overdue of a long sleep in the order they were due', async () => {
    const { clock, calls, expiry } = start({ concurrency: 1 })
    for (let i = 0; i < 50; i++) expiry.set(`k${i}`, clock.now() + 3_600_000 - ((i * 7) % 50))
    clock.jump(7_200_000)
    await clock.advance(1_000)
    const order = calls.map(({ key }) => (Number(key.slice(1)) * 7) % 50)
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => 49 - i))
  })

  it('is not early when the wall clock jumps back', async () => {
    const { clock, calls, expiry } = start()
    const due = clock.now() + 5_000
    expiry.set('a', due)
    await clock.advance(4_000)
    clock.jump(-60_000)
    await clock.advance(60_999)
    expect(calls).toEqual([])
    await clock.advance(1)
    expect(calls).toEqual([{ key: 'a', at: due }])
  })

  it('is at most a second late when the wall clock jumps forward', async () => {
    const { clock, calls, expiry } = start()
    expiry.set('a', clock.now() + 86_400_000)
    await clock.advance(1)
    clock.jump(86_400_000)
    const jumped = clock.monotonic()
    await clock.advanceUntil(() => calls.length === 1)
    expect(clock.monotonic() - jumped).toBeLessThanOrEqual(1_000)
  })

  it('calls a far due time without a timer that overflows', async () => {
    const { clock, expiry, calls } = start()
    expiry.set('a', Number.MAX_SAFE_INTEGER)
    expiry.set('never', Infinity)
    await clock.advance(3_000)
    expect(calls).toEqual([])
    expect(clock.untilNext).toBeLessThanOrEqual(1_000)
  })

  it('never has more calls under way than allowed', async () => {
    let running = 0
    let most = 0
    const gates: (() => void)[] = []
    const { clock, calls, expiry } = start({
      concurrency: 3,
      async onDue() {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => gates.push(resolve))
        running--
      },
    })
    for (let i = 0; i < 10; i++) expiry.set(`k${i}`, clock.now() + i)
    await clock.advance(1_000)
    expect(calls).toHaveLength(3)
    while (gates.length > 0) {
      gates.shift()?.()
      await clock.advance(0)
    }
    expect(most).toBe(3)
    expect(calls.map(({ key }) => key)).toEqual(Array.from({ length: 10 }, (_, i) => `k${i}`))
  })

  it('honours a key that is set again while its call runs, and does not call it twice at once', async () => {
    const first = deferred()
    let running = 0
    const { clock, calls, expiry } = start({
      onDue: async () => {
        expect(++running).toBe(1)
        if (calls.length === 1) await first.promise
        running--
      },
    })
    expiry.set('a', clock.now())
    await clock.advance(0)
    expiry.set('a', clock.now() + 100)
    await clock.advance(5_000)
    expect(calls).toHaveLength(1)
    first.resolve()
    await clock.advance(0)
    expect(calls).toHaveLength(2)
    expect(expiry.size).toBe(0)
  })

  it('honours an extension that arrives while a call runs that then fails', async () => {
    const first = deferred()
    const { clock, calls, expiry } = start({ onDue: () => (calls.length === 1 ? first.promise : Promise.resolve()) })
    const t0 = clock.now()
    expiry.set('a', t0)
    await clock.advance(0)
    expiry.set('a', t0 + 600_000)
    first.reject(new Error('conflict'))
    await clock.advance(700_000)
    expect(calls.map(({ at }) => at - t0)).toEqual([0, 600_000])
  })

  it('forgets a key deleted while its call runs, whether that ends well or not', async () => {
    const calls2 = [deferred(), deferred()]
    const { clock, calls, expiry } = start({ onDue: () => calls2[calls.length - 1]?.promise ?? Promise.resolve() })
    expiry.set('a', clock.now())
    expiry.set('b', clock.now())
    await clock.advance(0)
    expiry.delete('a')
    expiry.delete('b')
    calls2[0]?.reject(new Error('no'))
    calls2[1]?.resolve({ again: 10 })
    await clock.advance(600_000)
    expect(calls).toHaveLength(2)
    expect(expiry.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('retries with growing waits up to the longest, one key not holding up another', async () => {
    const { clock, calls, expiry } = start({
      concurrency: 1,
      backoffBase: 1_000,
      backoffMax: 8_000,
      onDue: (key) => (key === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve()),
    })
    const t0 = clock.now()
    expiry.set('bad', t0)
    expiry.set('good', t0 + 1)
    await clock.advance(60_000)
    expect(calls.filter(({ key }) => key === 'good')).toEqual([{ key: 'good', at: t0 + 1 }])
    const times = calls.filter(({ key }) => key === 'bad').map(({ at }) => at)
    const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0))
    waits.forEach((wait, i) => {
      const base = Math.min(1_000 * 2 ** i, 8_000)
      expect(wait).toBeGreaterThanOrEqual(base * 0.8)
      expect(wait).toBeLessThanOrEqual(base * 1.2)
    })
    expect(waits.length).toBeGreaterThan(5)
    // News of the same due time, as a resync brings it, does not cut the wait short.
    const before = calls.length
    expiry.set('bad', t0)
    await clock.advance(0)
    expect(calls).toHaveLength(before)
    // Another due time does.
    expiry.set('bad', t0 + 1)
    await clock.advance(0)
    expect(calls).toHaveLength(before + 1)
  })

  it('does not try again before the time that a server has named', async () => {
    const busy = new ApiError('busy', { status: 429, reason: 'TooManyRequests', retryAfter: 30_000 })
    const { clock, calls, expiry } = start({ onDue: () => Promise.reject(busy) })
    const t0 = clock.now()
    expiry.set('a', t0)
    await clock.advance(65_000)
    expect(calls.map(({ at }) => at - t0)).toEqual([0, 30_000, 60_000])
  })

  it('keys that fail slowly, however many, do not hold up others', async () => {
    let failing = 0
    const { clock, calls, expiry } = start({
      concurrency: 8,
      backoffBase: 100,
      backoffMax: 100,
      onDue: async (key) => {
        if (key.startsWith('good')) return
        failing++
        await new Promise<void>((resolve) => clock.setTimer(10_000, resolve))
        failing--
        throw new Error('timed out')
      },
    })
    for (let index = 0; index < 100; index++) expiry.set(`bad${index}`, clock.now())
    await clock.advance(5_000)
    expect(failing).toBe(8)
    // Each has failed: from here on they are the oldest, and back at once.
    await clock.advance(300_000)
    expect(failing).toBe(6)
    const due = clock.now() + 1_000
    for (let index = 0; index < 50; index++) expiry.set(`good${index}`, due)
    await clock.advance(1_000)
    expect(calls.filter(({ key }) => key.startsWith('good'))).toHaveLength(50)
    expect(calls.filter(({ key, at }) => key.startsWith('good') && at !== due)).toEqual([])
    // Nor do the others keep them from being tried again.
    const tries = calls.length
    for (let index = 0; index < 1_000; index++) expiry.set(`good${index}`, clock.now())
    await clock.advance(20_000)
    expect(calls.slice(tries).filter(({ key }) => key.startsWith('bad')).length).toBeGreaterThanOrEqual(6)
    expect(expiry.size).toBe(100)
  })

  it('a call that throws at once is a failure like any other', async () => {
    const { clock, calls, expiry } = start({
      onDue: () => {
        throw new Error('at once')
      },
    })
    expiry.set('a', clock.now())
    await clock.advance(1_500)
    expect(calls.length).toBeGreaterThanOrEqual(2)
  })

  it('calls again when asked to', async () => {
    const { clock, calls, expiry } = start({
      onDue: () => Promise.resolve(calls.length < 3 ? { again: 5_000 } : undefined),
    })
    const t0 = clock.now()
    expiry.set('a', t0)
    await clock.advance(60_000)
    expect(calls.map(({ at }) => at - t0)).toEqual([0, 5_000, 10_000])
  })

  it('ends when its calls have ended, tells them so, leaves no timer, and keeps what waits for a next run', async () => {
    const { clock, calls, expiry, stop, ended } = start({
      onDue: (_key, signal) =>
        calls.length > 1
          ? Promise.resolve()
          : new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
    })
    expiry.set('a', clock.now())
    expiry.set('b', clock.now() + 10_000)
    await clock.advance(0)
    await expect(expiry.run(stop.signal)).rejects.toThrow('already runs')
    stop.abort()
    await ended
    expect(clock.pending).toBe(0)
    expect(expiry.size).toBe(2)
    const again = new AbortController()
    stops.push(again)
    const second = expiry.run(again.signal)
    await clock.advance(10_000)
    expect(calls.map(({ key }) => key)).toEqual(['a', 'a', 'b'])
    again.abort()
    await second
  })

  it('refuses a due time that is no number', () => {
    const { expiry } = start()
    expect(() => expiry.set('a', Number.NaN)).toThrow('not a number')
  })

  it('property: never early, nothing lost, whatever jumps, fails and is set when', async () => {
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
    const effort = fc.record({ fails: fc.boolean(), takes: fc.constantFrom(0, 0, 1, 1_500) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.array(effort, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, efforts, concurrency) => {
          const clock = new VirtualClock()
          /** What the owner wants: due times that no completed call has answered since they were set. */
          const open = new Map<string, number>()
          const running = new Set<string>()
          const early: string[] = []
          const expiry = new Expiry({
            clock,
            random: seededRandom(),
            concurrency,
            backoffMax: 4_000,
            async onDue(key) {
              if (running.has(key)) early.push(`${key} twice at once`)
              running.add(key)
              const due = open.get(key)
              if (due === undefined || clock.now() < due) early.push(`${key} at ${clock.now()}, due ${due}`)
              open.delete(key)
              const effort = efforts.shift()
              if (effort?.takes) await new Promise<void>((resolve) => void clock.setTimer(effort.takes, resolve))
              running.delete(key)
              if (!effort?.fails) return
              // Failed: it stays open, unless it was deleted or set anew meanwhile.
              if (due !== undefined && !open.has(key) && !deletedMeanwhile.has(key)) open.set(key, due)
              throw new Error('failed')
            },
          })
          const deletedMeanwhile = new Set<string>()
          const stop = new AbortController()
          const ended = expiry.run(stop.signal)
          for (const step of steps) {
            if (step.op === 'set') {
              const due = clock.now() + step.after
              deletedMeanwhile.delete(step.key)
              open.set(step.key, due)
              expiry.set(step.key, due)
            } else if (step.op === 'delete') {
              if (running.has(step.key)) deletedMeanwhile.add(step.key)
              open.delete(step.key)
              expiry.delete(step.key)
            } else if (step.op === 'advance') {
              await clock.advance(step.by)
            } else {
              clock.jump(step.by)
            }
            await settle()
          }
          // Enough for every due time, every backoff and every jump back.
          await clock.advance(200_000)
          expect(early).toEqual([])
          expect([...open.keys()]).toEqual([])
          expect(expiry.size).toBe(0)
          stop.abort()
          await ended
          expect(clock.pending).toBe(0)
        },
      ),
      { numRuns: 200 },
    )
  })
})
