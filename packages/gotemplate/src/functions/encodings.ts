/** sprig's encodings and checksums. */
import { fromBytes, toBytes } from '../values/bytes.ts'
import type { GoFunction } from '../values/go-function.ts'
import { crypto } from '../system.ts'
import { fn } from './define.ts'

const BASE_64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The result of decoding, or the offset of the first byte that is wrong. */
export type DecodedBytes = { readonly bytes: Buffer } | { readonly corruptAt: number }

/** As base64.StdEncoding.DecodeString: newlines are skipped, padding is required. */
export function decodeBase64(text: string): DecodedBytes {
  return decodeGroups(toBytes(text), BASE_64, 4, 6)
}

/** As base32.StdEncoding.DecodeString. */
function decodeBase32(text: string): DecodedBytes {
  // Offsets in errors do not count newlines.
  return decodeGroups(toBytes(text.replaceAll(/[\r\n]/g, '')), BASE_32, 8, 5)
}

const isNewline = (code: number | undefined): boolean => code === 10 || code === 13

function decodeGroups(input: Buffer, alphabet: string, groupSize: 4 | 8, bits: 5 | 6): DecodedBytes {
  const out: number[] = []
  let group: number[] = []
  let at = 0
  const flush = (): void => {
    let value = 0n
    for (let index = 0; index < groupSize; index++) value = (value << BigInt(bits)) | BigInt(group[index] ?? 0)
    const count = Math.floor((group.length * bits) / 8)
    const total = (groupSize * bits) / 8
    for (let index = 0; index < count; index++) out.push(Number((value >> BigInt(8 * (total - 1 - index))) & 255n))
    group = []
  }
  for (; at < input.length; at++) {
    const code = input[at]
    if (isNewline(code)) continue
    if (code === 61 && (groupSize === 4 || (group.length >= 2 && input.length - at <= 8))) {
      const padded = padding(input, at, group.length, groupSize)
      if (padded !== undefined) return { corruptAt: padded }
      flush()
      return { bytes: Buffer.from(out) }
    }
    const digit = code === undefined ? -1 : alphabet.indexOf(String.fromCharCode(code))
    if (digit < 0) return { corruptAt: at }
    group.push(digit)
    if (group.length === groupSize) flush()
  }
  // A group without its padding is reported at its first character.
  if (group.length > 0) return { corruptAt: at - group.length }
  return { bytes: Buffer.from(out) }
}

/** Checks the padding that begins at `at`; returns the offset of an error. */
function padding(input: Buffer, at: number, digits: number, groupSize: 4 | 8): number | undefined {
  const allowed = groupSize === 4 ? [2, 3] : [2, 4, 5, 7]
  if (!allowed.includes(digits)) return at
  let position = at
  let missing = groupSize - digits
  for (; position < input.length && missing > 0; position++) {
    const code = input[position]
    if (code === 10 || code === 13) continue
    if (code !== 61) return position - 1
    missing--
  }
  if (missing > 0) return input.length
  // Base 32 ignores a short text after the padding.
  if (groupSize === 8) return undefined
  while (input[position] === 10 || input[position] === 13) position++
  return position < input.length ? position : undefined
}

function encodeBase32(bytes: Buffer): string {
  let out = ''
  for (let start = 0; start < bytes.length; start += 5) {
    const chunk = bytes.subarray(start, start + 5)
    let value = 0n
    for (let index = 0; index < 5; index++) value = (value << 8n) | BigInt(chunk[index] ?? 0)
    const count = Math.ceil((chunk.length * 8) / 5)
    for (let index = 0; index < 8; index++) {
      out += index < count ? (BASE_32[Number((value >> BigInt(5 * (7 - index))) & 31n)] ?? '') : '='
    }
  }
  return out
}

const decodedText = (decoded: DecodedBytes, name: string): string =>
  'bytes' in decoded ? fromBytes(decoded.bytes) : `illegal ${name} data at input byte ${decoded.corruptAt}`

const MODULUS = 65_521

function adler32(bytes: Buffer): number {
  let [low, high] = [1, 0]
  for (const byte of bytes) {
    low = (low + byte) % MODULUS
    high = (high + low) % MODULUS
  }
  return high * 65_536 + low
}

const hash = (name: string, algorithm: string): GoFunction =>
  fn(name, ['string'], ([text]) => crypto().createHash(algorithm).update(toBytes(text)).digest('hex'))

export const encodingFunctions: readonly GoFunction[] = [
  fn('b64enc', ['string'], ([text]) => toBytes(text).toString('base64')),
  fn('b64dec', ['string'], ([text]) => decodedText(decodeBase64(text), 'base64')),
  fn('b32enc', ['string'], ([text]) => encodeBase32(toBytes(text))),
  fn('b32dec', ['string'], ([text]) => decodedText(decodeBase32(text), 'base32')),
  hash('sha1sum', 'sha1'),
  hash('sha256sum', 'sha256'),
  hash('sha512sum', 'sha512'),
  fn('adler32sum', ['string'], ([text]) => String(adler32(toBytes(text)))),
]
