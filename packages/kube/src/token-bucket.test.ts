import fc from 'fast-check'
import { expect, test } from 'vitest'
import { VirtualClock } from './testing/virtual-clock.ts'
import { TokenBucket, TokenBuckets } from './token-bucket.ts'

test('a bucket gives its burst, then one token per refill, and holds no more than the burst', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket({ clock, burst: 2, refillMs: 100 })
  const taken = (): readonly boolean[] => [bucket.take(), bucket.take(), bucket.take()]
  expect(bucket.wait).toBe(0)
  expect(taken()).toEqual([true, true, false])
  expect(bucket.wait).toBe(100)
  await clock.advance(30)
  expect(bucket.wait).toBe(70)
  await clock.advance(70)
  expect(bucket.wait).toBe(0)
  expect(taken()).toEqual([true, false, false])
  await clock.advance(1_000)
  expect(taken()).toEqual([true, true, false])
})

test('after the reported wait there is a token, at any rate', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.1, max: 5_000, noNaN: true }),
      fc.integer({ min: 1, max: 5 }),
      async (refillMs, burst) => {
        const clock = new VirtualClock()
        const bucket = new TokenBucket({ clock, burst, refillMs })
        for (let count = 0; count < burst; count++) expect(bucket.take()).toBe(true)
        let waits = 0
        while (!bucket.take()) {
          expect(bucket.wait).toBeGreaterThanOrEqual(1)
          await clock.advance(bucket.wait)
          waits++
        }
        // A second wait is allowed for rounding.
        expect(waits).toBeLessThanOrEqual(2)
      },
    ),
    { numRuns: 50 },
  )
})

test('each key has its own bucket, and buckets without use are dropped', async () => {
  const clock = new VirtualClock()
  const buckets = new TokenBuckets({ clock, burst: 1, refillMs: 100, maxKeys: 3 })
  expect(['a', 'b', 'a', 'c', 'd'].map((key) => buckets.take(key))).toEqual([true, true, false, true, true])
  // b is the least recently used key, so its bucket is dropped.
  expect(buckets.size).toBe(3)
  expect([buckets.take('a'), buckets.take('b')]).toEqual([false, true])
  await clock.advance(1_000)
  expect(buckets.take('e')).toBe(true)
  expect(buckets.size).toBe(1)
})
