/**
 * Just enough of DER (X.690) to write and walk X.509 certificates. Values are byte arrays that already carry their tag
 * and length, so composing is concatenating.
 */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

export function tagged(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content])
}

export const sequence = (...items: readonly Uint8Array[]): Uint8Array => tagged(TAG.sequence, ...items)
export const set = (item: Uint8Array): Uint8Array => tagged(TAG.set, item)
export const octetString = (content: Uint8Array): Uint8Array => tagged(TAG.octetString, content)
export const utf8String = (text: string): Uint8Array => tagged(TAG.utf8String, Buffer.from(text, 'utf8'))
export const boolean = (value: boolean): Uint8Array => tagged(TAG.boolean, Uint8Array.of(value ? 0xff : 0x00))
export const nothing = (): Uint8Array => tagged(TAG.null)

/** `[number] EXPLICIT`: wraps complete values. */
export const explicit = (number: number, ...items: readonly Uint8Array[]): Uint8Array => tagged(0xa0 | number, ...items)

/** `[number] IMPLICIT` of a primitive type: replaces the tag. */
export const implicit = (number: number, content: Uint8Array): Uint8Array => tagged(0x80 | number, content)

/** A non-negative integer from its big-endian bytes, in the fewest octets that keep it positive. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const digits = bytes.subarray(start)
  const sign = (digits[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array()
  return tagged(TAG.integer, sign, digits.length > 0 ? digits : Uint8Array.of(0))
}

/** `1.2.840.10045.4.3.2` */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(TAG.objectIdentifier, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)))
}

/** A bit string of whole octets, for keys and signatures. */
export const bitString = (content: Uint8Array): Uint8Array => tagged(TAG.bitString, Uint8Array.of(0), content)

/** A named bit list (bit 0 is the leftmost, all below 8). DER requires trailing zero bits to be removed. */
export function namedBits(...bits: readonly number[]): Uint8Array {
  if (bits.length === 0) return tagged(TAG.bitString, Uint8Array.of(0))
  const octet = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0)
  return tagged(TAG.bitString, Uint8Array.of(7 - Math.max(...bits), octet))
}

/** RFC 5280: UTCTime through 2049, GeneralizedTime from 2050; whole seconds, UTC. */
export function time(milliseconds: number): Uint8Array {
  // 2026-01-01T00:00:00.000Z → 20260101000000Z
  const digits = `${new Date(milliseconds).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  const year = Number(digits.slice(0, 4))
  return year < 2050
    ? tagged(TAG.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : tagged(TAG.generalizedTime, Buffer.from(digits, 'latin1'))
}

/** A decoded value: its tag, its content, and all its bytes. */
export interface DerValue {
  readonly tag: number
  readonly content: Uint8Array
  readonly whole: Uint8Array
}

/** Decodes the consecutive values in `bytes`. Throws a RangeError if they are malformed. */
export function readAll(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = []
  let at = 0
  while (at < bytes.length) {
    const value = readAt(bytes, at)
    values.push(value)
    at += value.whole.length
  }
  return values
}

function readAt(bytes: Uint8Array, at: number): DerValue {
  const octet = (index: number): number => {
    const value = bytes[index]
    if (value === undefined) throw new RangeError('DER value ends early')
    return value
  }
  const tag = octet(at)
  let length = octet(at + 1)
  let start = at + 2
  if (length >= 0x80) {
    const count = length & 0x7f
    if (count === 0 || count > 4) throw new RangeError('DER length is indefinite or too long')
    length = 0
    for (let index = 0; index < count; index++) length = length * 256 + octet(start + index)
    start += count
  }
  if (start + length > bytes.length) throw new RangeError('DER value ends early')
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) }
}

function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return [0x80 | octets.length, ...octets]
}

function base128(value: number): readonly number[] {
  const septets = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) septets.unshift(0x80 | (rest % 128))
  return septets
}
