import { VirtualClock } from '@tenure/kube/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenBucket, TokenBuckets } from './token-bucket.ts'

test('a bucket gives its burst, then one token per refill, and never holds more than its burst', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(clock, 2, 100)
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

test('waiting as long as the bucket says yields a token at any rate', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.1, max: 5_000, noNaN: true }),
      fc.integer({ min: 1, max: 5 }),
      async (refill, burst) => {
        const clock = new VirtualClock()
        const bucket = new TokenBucket(clock, burst, refill)
        for (let count = 0; count < burst; count++) expect(bucket.take()).toBe(true)
        let waits = 0
        while (!bucket.take()) {
          expect(bucket.wait).toBeGreaterThanOrEqual(1)
          await clock.advance(bucket.wait)
          waits++
        }
        // One more attempt at most, because of rounding.
        expect(waits).toBeLessThanOrEqual(2)
      },
    ),
    { numRuns: 50 },
  )
})

test('each key has its own bucket, and their number is bounded', async () => {
  const clock = new VirtualClock()
  const buckets = new TokenBuckets(clock, 1, 100, 3)
  expect(['a', 'b', 'a', 'c', 'd'].map((key) => buckets.take(key))).toEqual([true, true, false, true, true])
  // b was unused for longest, so its bucket was dropped.
  expect(buckets.size).toBe(3)
  expect([buckets.take('a'), buckets.take('b')]).toEqual([false, true])
  await clock.advance(1_000)
  expect(buckets.take('e')).toBe(true)
  expect(buckets.size).toBe(1)
})
