import { randomBytes } from 'node:crypto'

/** Randomness, injected, so that a test can repeat a run from its seed. */
export interface Random {
  /** A number in [0, 1), for jitter. Not for secrets. */
  fraction(): number
  /** Bytes that nobody can guess, for names and ids. */
  bytes(length: number): Uint8Array
}

/** The machine's own randomness. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (length) => randomBytes(length),
}

/** `value` moved by at most `share` of itself, either way: jitter(random, 100, 0.2) is in [80, 120). */
export function jitter(random: Random, value: number, share: number): number {
  return value * (1 - share + 2 * share * random.fraction())
}

/** What generateName uses: letters and digits that can not spell a word or be misread. */
const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** A lower-case suffix for names, as Kubernetes' generateName makes them. Default length 5. */
export function randomSuffix(random: Random, length = 5): string {
  let suffix = ''
  while (suffix.length < length) {
    for (const byte of random.bytes(length)) {
      // Bytes past the last full turn of the alphabet would favour its first letters.
      if (byte < 243 && suffix.length < length) suffix += NAME_LETTERS.charAt(byte % NAME_LETTERS.length)
    }
  }
  return suffix
}
