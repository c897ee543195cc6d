import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jitter, randomSuffix, systemRandom } from './random.ts'
import { seededRandom } from './testing/seeded-random.ts'

test('jitter stays within its share', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 100_000 }), (seed, value) => {
      const moved = jitter(seededRandom(seed), value, 0.2)
      expect(moved).toBeGreaterThanOrEqual(value * 0.8)
      expect(moved).toBeLessThan(value * 1.2 + 1e-9)
    }),
  )
})

test('suffixes fit a DNS label and use every letter about equally often', () => {
  const counts = new Map<string, number>()
  const text = randomSuffix(systemRandom, 27_000)
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  expect(text).toMatch(/^[a-z0-9]{27000}$/)
  expect(counts.size).toBe(27)
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(200)
})

test('bytes have the requested length and never repeat', () => {
  const seen = new Set<string>()
  for (let turn = 0; turn < 2000; turn++) {
    const length = 8 + (turn % 80)
    const bytes = systemRandom.bytes(length)
    expect(bytes.length).toBe(length)
    seen.add(Buffer.from(bytes.subarray(0, 8)).toString('hex'))
  }
  expect(seen.size).toBe(2000)
})
