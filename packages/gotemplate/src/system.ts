/** The clock, the randomness and the built-in modules of the machine: the only place that uses them. */
import type NodeCrypto from 'node:crypto'

/** Loaded on first use, because most templates need none of it. */
export function crypto(): typeof NodeCrypto {
  return process.getBuiltinModule('node:crypto')
}

export const systemNow = (): number => Date.now()

export const systemRandomBytes = (count: number): Uint8Array => crypto().randomBytes(count)

/** The time zone of the machine, by its IANA name. */
export const systemTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone
