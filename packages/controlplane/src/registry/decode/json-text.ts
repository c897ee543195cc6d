/**
 * Reads JSON as Go does: with its error messages, and with the keys that occur twice. It is slow, so it runs only on
 * text that JSON.parse refused or that seems to have duplicate keys.
 */

import { childPath, FieldPaths } from '../../schema/decode/field-paths.ts'

export class JsonSyntaxError extends Error {}

/** Maximum nesting, beyond any real object: recursive code must not overflow the stack, as apply does beyond 900. */
export const MAX_JSON_DEPTH = 500

/** Whether the text consists of characters, or of bytes stored as characters. */
type Letters = 'characters' | 'bytes'

/** An escape that may be half of a surrogate pair. */
const HALF_LETTER = /\\u[dD][89a-fA-F]/

/** Parses a body. Throws a JsonSyntaxError with Go's message. */
export function parseJson(
  text: string,
  letters: Letters = 'characters',
): { readonly value: unknown; readonly duplicates: readonly string[] } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    new Scanner(text, letters).scan()
    // Go accepts it and JSON.parse does not: a lone surrogate, for example.
    throw new JsonSyntaxError(cause instanceof Error ? cause.message : 'invalid JSON')
  }
  const keys = countKeys(text)
  if (keys.depth > MAX_JSON_DEPTH) throw tooDeep(text.charAt(keys.tooDeepAt))
  const isDoubled = keys.count !== keysIn(value)
  if (HALF_LETTER.test(text)) value = wellFormed(value)
  return { value, duplicates: isDoubled ? new Scanner(text, letters).scan() : [] }
}

const tooDeep = (letter: string): JsonSyntaxError =>
  new JsonSyntaxError(`invalid character '${letter}' exceeded max depth`)

/** Lone surrogates become U+FFFD, as in Go. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormed)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]))
}

/** Counts colons outside strings, of which there are as many as keys. */
function countKeys(text: string): { readonly count: number; readonly depth: number; readonly tooDeepAt: number } {
  let tooDeepAt = -1
  let count = 0
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 34: // "
        for (at = text.indexOf('"', at + 1); isEscaped(text, at); at = text.indexOf('"', at + 1));
        break
      case 58: // :
        count++
        break
      case 91: // [
      case 123: // {
        if (++depth > deepest) {
          deepest = depth
          if (depth === MAX_JSON_DEPTH + 1) tooDeepAt = at
        }
        break
      case 93: // ]
      case 125: // }
        depth--
        break
      default:
    }
  }
  return { count, depth: deepest, tooDeepAt }
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === 92) backslashes++
  return backslashes % 2 === 1
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += keysIn(item)
    return count
  }
  for (const key in value) count += 1 + keysIn((value as Record<string, unknown>)[key])
  return count
}

class Scanner {
  readonly #text: string
  readonly #letters: Letters
  readonly #duplicates = new FieldPaths()
  #at = 0
  #depth = 0

  constructor(text: string, letters: Letters) {
    this.#text = text
    this.#letters = letters
  }

  /** The paths of duplicate keys, each once. */
  scan(): readonly string[] {
    this.#value('')
    this.#space()
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value')
    return this.#duplicates.all
  }

  #value(path: string): void {
    this.#space()
    const letter = this.#peek()
    if (letter === '{') this.#object(path)
    else if (letter === '[') this.#array(path)
    else if (letter === '"') this.#string()
    else if (letter === 't') this.#literal('true')
    else if (letter === 'f') this.#literal('false')
    else if (letter === 'n') this.#literal('null')
    else if (letter === '-' || isDigit(letter)) this.#number()
    else throw this.#unexpected('looking for beginning of value')
  }

  #enter(): void {
    if (++this.#depth > MAX_JSON_DEPTH) throw tooDeep(this.#peek())
    this.#at++
  }

  #object(path: string): void {
    this.#enter()
    const seen = new Set<string>()
    this.#space()
    if (this.#takeIf('}')) return this.#leave()
    for (;;) {
      this.#space()
      if (this.#peek() !== '"') throw this.#unexpected('looking for beginning of object key string')
      const key = this.#string()
      const at = childPath(path, key)
      if (seen.has(key)) this.#duplicates.add(at)
      seen.add(key)
      this.#space()
      if (!this.#takeIf(':')) throw this.#unexpected('after object key')
      this.#value(at)
      this.#space()
      if (this.#takeIf('}')) return this.#leave()
      if (!this.#takeIf(',')) throw this.#unexpected('after object key:value pair')
    }
  }

  #array(path: string): void {
    this.#enter()
    this.#space()
    if (this.#takeIf(']')) return this.#leave()
    for (let index = 0; ; index++) {
      this.#value(childPath(path, index))
      this.#space()
      if (this.#takeIf(']')) return this.#leave()
      if (!this.#takeIf(',')) throw this.#unexpected('after array element')
    }
  }

  #leave(): void {
    this.#depth--
  }

  #string(): string {
    const start = this.#at++
    for (;;) {
      const letter = this.#peek()
      if (letter === '"') break
      if (letter === '\\') {
        this.#at++
        const escaped = this.#peek()
        if (escaped === 'u') {
          for (let digit = 0; digit < 4; digit++) {
            this.#at++
            if (!/^[0-9a-fA-F]$/.test(this.#peek())) throw this.#unexpected('in \\u hexadecimal character escape')
          }
        } else if (!'bfnrt\\/"'.includes(escaped) || escaped === '') throw this.#unexpected('in string escape code')
      } else if (letter < ' ') throw this.#unexpected('in string literal')
      this.#at++
    }
    this.#at++
    return JSON.parse(this.#text.slice(start, this.#at)) as string
  }

  #literal(word: string): void {
    for (const letter of word) {
      if (this.#peek() !== letter) throw this.#unexpected(`in literal ${word} (expecting '${letter}')`)
      this.#at++
    }
  }

  #number(): void {
    if (this.#takeIf('-') && !isDigit(this.#peek())) throw this.#unexpected('in numeric literal')
    if (!this.#takeIf('0')) this.#digits()
    if (this.#takeIf('.')) {
      if (!isDigit(this.#peek())) throw this.#unexpected('after decimal point in numeric literal')
      this.#digits()
    }
    if (this.#takeIf('e') || this.#takeIf('E')) {
      if (!this.#takeIf('+')) this.#takeIf('-')
      if (!isDigit(this.#peek())) throw this.#unexpected('in exponent of numeric literal')
      this.#digits()
    }
  }

  #digits(): void {
    while (isDigit(this.#peek())) this.#at++
  }

  #space(): void {
    while (/^[ \t\r\n]$/.test(this.#peek())) this.#at++
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #takeIf(letter: string): boolean {
    if (this.#peek() !== letter) return false
    this.#at++
    return true
  }

  #unexpected(where: string): JsonSyntaxError {
    const letter = this.#peek()
    if (letter === '') return new JsonSyntaxError('unexpected end of JSON input')
    const shown = letter === "'" ? String.raw`'\''` : letter === '"' ? `'"'` : quoteLetter(letter, this.#letters)
    return new JsonSyntaxError(`invalid character ${shown} ${where}`)
  }
}

/** Go reads bytes and shows an invalid one as if it were a character. */
function quoteLetter(letter: string, letters: Letters): string {
  if (letter < ' ') return quoteControl(letter)
  if (letter <= '~') return `'${letter}'`
  const byte = letters === 'bytes' ? letter.charCodeAt(0) : (Buffer.from(letter)[0] ?? 0)
  const isShown = byte > 0xa0 && byte !== 0xad
  return isShown ? `'${String.fromCharCode(byte)}'` : String.raw`'\u00${byte.toString(16).padStart(2, '0')}'`
}

function quoteControl(letter: string): string {
  const named = new Map([
    ['\n', String.raw`'\n'`],
    ['\t', String.raw`'\t'`],
    ['\r', String.raw`'\r'`],
  ])
  return named.get(letter) ?? `'\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}'`
}

function isDigit(letter: string): boolean {
  return letter >= '0' && letter <= '9' && letter.length === 1
}
