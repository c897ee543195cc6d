import { isUtf8 } from 'node:buffer'
import { HttpError } from '../errors/http-error.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Parses the JSON of a request. Values nested deeper than `maxDepth` are rejected before they are parsed, because code
 * that walks them would overflow the stack. A key `__proto__` is rejected, because copying it would set a prototype.
 */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  rejectDepth(bytes, maxDepth)
  if (!isUtf8(bytes)) throw invalidJson('it is not UTF-8')
  const text = new TextDecoder().decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalidJson('it cannot be parsed', cause)
  }
  // An escaped letter could hide the key from the text search.
  if (text.includes('__proto__') || text.includes(String.raw`\u`)) rejectPrototype(value)
  return value
}

export function invalidJson(why: string, cause?: unknown): HttpError {
  return new HttpError('TENURE_HTTP_INVALID_JSON', 400, 'Invalid JSON', {
    cause: cause ?? new Error(`The body is not JSON: ${why}`),
  })
}

function rejectDepth(bytes: Uint8Array, maxDepth: number): void {
  let depth = 0
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isInString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) isInString = true
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > maxDepth) {
        throw new HttpError('TENURE_HTTP_TOO_DEEP', 400, `JSON is nested more than ${maxDepth} levels deep`)
      }
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
  }
}

function rejectPrototype(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__')) {
    throw new HttpError('TENURE_HTTP_FORBIDDEN_KEY', 400, 'JSON must not have the key "__proto__"')
  }
  for (const inside of Object.values(value)) rejectPrototype(inside)
}
