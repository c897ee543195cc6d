import { randomBytes, randomFillSync } from 'node:crypto'

/** Injected randomness: tests repeat a run from its seed. */
export interface Random {
  /** A number in [0, 1), for jitter. Not for secrets. */
  fraction(): number
  /** Unpredictable bytes, for names and ids. */
  bytes(length: number): Uint8Array
}

/**
 * One system call costs the same for few bytes as for many, so small requests are served from a pool of this many bytes.
 * No byte is used twice.
 */
const POOL_BYTES = 4096
/** Longer requests bypass the pool. */
const MAX_BYTES_FROM_POOL = 64
const pool = new Uint8Array(POOL_BYTES)
let used = POOL_BYTES

function fromPool(length: number): Uint8Array {
  if (used + length > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.slice(used, used + length)
  // A memory dump must not reveal ids that are in use.
  pool.fill(0, used, used + length)
  used += length
  return bytes
}

/** The randomness of this machine. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (length) => (length > MAX_BYTES_FROM_POOL ? randomBytes(length) : fromPool(length)),
}

/** `value` changed by at most `share` of it: jitter(random, 100, 0.2) is in [80, 120). */
export function jitter(random: Random, value: number, share: number): number {
  return value * (1 - share + 2 * share * random.fraction())
}

/** The alphabet of generateName: letters and digits that spell no words and are not misread. */
const NAME_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** A lower-case suffix for names, like that of Kubernetes' generateName. Default length 5. */
export function randomSuffix(random: Random, length = 5): string {
  let suffix = ''
  while (suffix.length < length) {
    for (const byte of random.bytes(length)) {
      // Bytes from 243 on (9 × 27) would favour the first letters of the alphabet.
      if (byte < 243 && suffix.length < length) suffix += NAME_LETTERS.charAt(byte % NAME_LETTERS.length)
    }
  }
  return suffix
}
