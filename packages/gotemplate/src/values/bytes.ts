/**
 * Go strings are bytes. A string is held as a JavaScript string; a byte that is not part of valid UTF-8 is held as the
 * lone surrogate U+DC00 + byte. Such strings are rare, so every function has a fast path without them.
 */

const ESCAPED = /[\uDC80-\uDCFF]/u
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7F]*$/
const ESCAPE_BASE = 0xdc00

export const isAscii = (text: string): boolean => ASCII.test(text)

/** Whether the string has bytes that are not valid UTF-8. */
export const hasInvalidBytes = (text: string): boolean => ESCAPED.test(text)

export function toBytes(text: string): Buffer {
  if (!hasInvalidBytes(text)) return Buffer.from(text, 'utf8')
  const parts: Buffer[] = []
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0xd800 && code <= 0xdbff) index++
    else if (code >= 0xdc80 && code <= 0xdcff) {
      parts.push(Buffer.from(text.slice(start, index), 'utf8'), Buffer.of(code - ESCAPE_BASE))
      start = index + 1
    }
  }
  parts.push(Buffer.from(text.slice(start), 'utf8'))
  return Buffer.concat(parts)
}

export function fromBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (!text.includes('\uFFFD')) return text
  const parts: string[] = []
  let start = 0
  let index = 0
  while (index < bytes.length) {
    const size = sequenceLength(bytes, index)
    if (size > 0) {
      index += size
      continue
    }
    parts.push(bytes.toString('utf8', start, index), String.fromCharCode(ESCAPE_BASE + (bytes[index] ?? 0)))
    start = ++index
  }
  parts.push(bytes.toString('utf8', start))
  return parts.join('')
}

/** The length of the valid UTF-8 sequence at `index`; 0 if there is none. */
function sequenceLength(bytes: Buffer, index: number): number {
  const first = bytes[index] ?? 0
  if (first < 0x80) return 1
  const second = bytes[index + 1] ?? 0
  const isNext = (ahead: number): boolean => ((bytes[index + ahead] ?? 0) & 0xc0) === 0x80
  if (first >= 0xc2 && first <= 0xdf) return isNext(1) ? 2 : 0
  if (first >= 0xe0 && first <= 0xef) {
    const low = first === 0xe0 ? 0xa0 : 0x80
    const high = first === 0xed ? 0x9f : 0xbf
    return second >= low && second <= high && isNext(2) ? 3 : 0
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const low = first === 0xf0 ? 0x90 : 0x80
    const high = first === 0xf4 ? 0x8f : 0xbf
    return second >= low && second <= high && isNext(2) && isNext(3) ? 4 : 0
  }
  return 0
}

/** Joins bytes that became valid UTF-8 when strings were joined. */
export function normalize(text: string): string {
  return hasInvalidBytes(text) ? fromBytes(toBytes(text)) : text
}

/** The text as JSON and terminals show it: U+FFFD for each invalid byte. */
export function toDisplay(text: string): string {
  const normal = normalize(text)
  return hasInvalidBytes(normal) ? normal.replaceAll(/[\uDC80-\uDCFF]/gu, '\uFFFD') : normal
}

/** Text from outside has no invalid bytes: a lone surrogate becomes U+FFFD, as in Go's JSON. */
export const fromOutside = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

/** The number of bytes. */
export function byteLength(text: string): number {
  if (isAscii(text)) return text.length
  return hasInvalidBytes(text) ? toBytes(text).length : Buffer.byteLength(text, 'utf8')
}

/** The bytes from `start` to `end`. */
export function byteSlice(text: string, start: number, end?: number): string {
  return isAscii(text) ? text.slice(start, end) : fromBytes(toBytes(text).subarray(start, end))
}

/** The code points; an invalid byte is a code point of its own, of value U+DC80 to U+DCFF. */
export function codePoints(text: string): number[] {
  const points: number[] = []
  for (const character of normalize(text)) points.push(character.codePointAt(0) ?? 0)
  return points
}

export const isInvalidByte = (point: number): boolean => point >= 0xdc80 && point <= 0xdcff

/** Compares by bytes, as Go does; negative, zero or positive. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left === right) continue
    if (left < 0xd800 && right < 0xd800) return left - right
    return Buffer.compare(toBytes(a), toBytes(b))
  }
  return a.length - b.length
}
