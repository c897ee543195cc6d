import type { Random } from '../random.ts'

/** Reproducible randomness from a seed, for tests only. */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    fraction: next,
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
  }
}
