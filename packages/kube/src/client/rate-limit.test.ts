import { describe, expect, test } from 'vitest'
import { rateLimiter } from './rate-limit.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

describe('rateLimiter', () => {
  test('a burst goes at once, then one request per interval in the order of calls', async () => {
    const clock = new VirtualClock()
    const limiter = rateLimiter(clock, { qps: 10, burst: 3 })
    const went: [number, number][] = []
    const go = async (number: number): Promise<void> => {
      await limiter.acquire()
      went.push([number, Math.round(clock.monotonic())])
    }
    const all = Promise.all([1, 2, 3, 4, 5].map(go))
    await clock.advance(1000)
    await all
    expect(went).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 100],
      [5, 200],
    ])
  })

  test('an idle time saves no more tokens than a burst', async () => {
    const clock = new VirtualClock()
    const limiter = rateLimiter(clock, { qps: 10, burst: 2 })
    await clock.advance(60_000)
    await limiter.acquire()
    await limiter.acquire()
    let third = false
    const waiting = limiter.acquire().then(() => (third = true))
    await clock.advance(99)
    expect(third).toBe(false)
    await clock.advance(1)
    await waiting
    expect(third).toBe(true)
  })

  test('an aborted call gives its token back', async () => {
    const clock = new VirtualClock()
    const limiter = rateLimiter(clock, { qps: 1, burst: 1 })
    await limiter.acquire()
    const abort = new AbortController()
    const aborted = limiter.acquire(abort.signal).catch((error: unknown) => error)
    abort.abort(new Error('enough'))
    expect(await aborted).toMatchObject({ message: 'enough' })
    let went = false
    const waiting = limiter.acquire().then(() => (went = true))
    await clock.advance(1000)
    await waiting
    expect(went).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('a rate of zero is rejected', () => {
    expect(() => rateLimiter(new VirtualClock(), { qps: 0 })).toThrow(RangeError)
  })
})
