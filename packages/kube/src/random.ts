import { randomBytes, randomFillSync } from 'node:crypto'

/** Randomness, injected, so that a test can repeat a run from its seed. */
export interface Random {
  /** A number in [0, 1), for jitter. Not for secrets. */
  fraction(): number
  /** Bytes that nobody can guess, for names and ids. */
  bytes(length: number): Uint8Array
}

/** Asking the machine costs the same for a few bytes as for many: ids are cut from a supply, of which no byte is used twice. */
const SUPPLY = 4096
const MOST_FROM_SUPPLY = 64
const supply = new Uint8Array(SUPPLY)
let used = SUPPLY

function fromSupply(length: number): Uint8Array {
  if (used + length > SUPPLY) {
    randomFillSync(supply)
    used = 0
  }
  const bytes = supply.slice(used, used + length)
  // What was handed out is not left behind for who reads the memory.
  supply.fill(0, used, used + length)
  used += length
  return bytes
}

/** The machine's own randomness. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (length) => (length > MOST_FROM_SUPPLY ? randomBytes(length) : fromSupply(length)),
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
