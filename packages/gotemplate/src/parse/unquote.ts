/** Go's string and character literals. */
import { fromBytes, normalize } from '../values/bytes.ts'

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
])
const PLAIN = /^"[^"\\\n]*"$/

/** The value of a literal with its quotes; undefined if it is malformed. */
export function unquote(literal: string): string | undefined {
  if (PLAIN.test(literal)) return literal.slice(1, -1)
  if (literal.startsWith('`')) return literal.slice(1, -1).replaceAll('\r', '')
  const text = literal.slice(1, -1)
  let value = ''
  for (let at = 0; at < text.length;) {
    const character = readCharacter(text, at, '"')
    if (!character) return undefined
    value += character.text
    at = character.end
  }
  return normalize(value)
}

export interface UnquotedCharacter {
  /** The character, or the byte of an escape such as `\xff`. */
  readonly text: string
  readonly code: number
  readonly end: number
}

/** Reads one character or escape; undefined if it is malformed. */
export function readCharacter(text: string, at: number, quote: '"' | "'"): UnquotedCharacter | undefined {
  const code = text.codePointAt(at)
  if (code === undefined || text[at] === quote || text[at] === '\n') return undefined
  const character = String.fromCodePoint(code)
  if (character !== '\\') return { text: character, code, end: at + character.length }
  const letter = text[at + 1] ?? ''
  const simple = SIMPLE.get(letter)
  if (simple !== undefined) return { text: simple, code: simple.charCodeAt(0), end: at + 2 }
  if (letter === quote) return { text: quote, code: quote.charCodeAt(0), end: at + 2 }
  if (letter === 'x') return numeric(text, at + 2, /^[\da-fA-F]{2}/, 16, true)
  if (letter === 'u') return numeric(text, at + 2, /^[\da-fA-F]{4}/, 16, false)
  if (letter === 'U') return numeric(text, at + 2, /^[\da-fA-F]{8}/, 16, false)
  return numeric(text, at + 1, /^[0-7]{3}/, 8, true)
}

function numeric(
  text: string,
  at: number,
  pattern: RegExp,
  base: 8 | 16,
  isByte: boolean,
): UnquotedCharacter | undefined {
  const digits = pattern.exec(text.slice(at, at + 8))?.[0]
  if (digits === undefined) return undefined
  const code = Number.parseInt(digits, base)
  const end = at + digits.length
  if (isByte) return code > 255 ? undefined : { text: fromBytes(Buffer.of(code)), code, end }
  if (code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined
  return { text: String.fromCodePoint(code), code, end }
}
