/** Reads JSON with the errors of Go's encoding/json. */
import type { GoValue } from '../values/values.ts'

/** Malformed JSON, with Go's message. */
export class JsonProblem extends Error {}

/** Go allows more, but no template needs it. */
const MAX_JSON_READ_DEPTH = 1000

export interface ReadJson {
  /** Contains nil in place of each number that is out of range. */
  readonly value: GoValue
  /** The first number that is out of range, with Go's message: Go reports it after it has read the rest. */
  readonly outOfRange: JsonProblem | undefined
}

/** Throws a JsonProblem if the text is malformed. */
export function readJson(text: string): ReadJson {
  const reader = new JsonReader(text)
  const value = reader.document()
  return { value, outOfRange: reader.outOfRange }
}

class JsonReader {
  outOfRange: JsonProblem | undefined
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): GoValue {
    this.#skipSpaces()
    const value = this.#value()
    this.#skipSpaces()
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value')
    return value
  }

  #skipSpaces(): void {
    while (/^[ \t\r\n]$/.test(this.#text.charAt(this.#at))) this.#at++
  }

  #unexpected(context: string): JsonProblem {
    if (this.#at >= this.#text.length) {
      // Go ends the text with a space, which is wrong in the middle of a word, a number or an escape.
      const isInside = /^(?:in (?!string literal)|after decimal)/.test(context)
      return new JsonProblem(isInside ? `invalid character ' ' ${context}` : 'unexpected end of JSON input')
    }
    return new JsonProblem(`invalid character ${shownCharacter(this.#text, this.#at)} ${context}`)
  }

  #value(): GoValue {
    const character = this.#text.charAt(this.#at)
    switch (character) {
      case '{':
        return this.#object()
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      case 't':
        return this.#literal('true', true)
      case 'f':
        return this.#literal('false', false)
      case 'n':
        return this.#literal('null', null)
      default:
        if (/^[-\d]$/.test(character)) return this.#number()
        throw this.#unexpected('looking for beginning of value')
    }
  }

  #literal<T extends GoValue>(word: string, value: T): T {
    for (let index = 1; index < word.length; index++) {
      this.#at++
      const expected = word.charAt(index)
      if (this.#text.charAt(this.#at) !== expected) {
        throw this.#unexpected(`in literal ${word} (expecting '${expected}')`)
      }
    }
    this.#at++
    return value
  }

  #number(): number | null {
    const start = this.#at
    const digits = (): number => {
      const from = this.#at
      while (/^\d$/.test(this.#text.charAt(this.#at))) this.#at++
      return this.#at - from
    }
    if (this.#text.charAt(this.#at) === '-') this.#at++
    if (this.#text.charAt(this.#at) === '0') this.#at++
    else if (digits() === 0) throw this.#unexpected('in numeric literal')
    if (this.#text.charAt(this.#at) === '.') {
      this.#at++
      if (digits() === 0) throw this.#unexpected('after decimal point in numeric literal')
    }
    if (/^[eE]$/.test(this.#text.charAt(this.#at))) {
      this.#at++
      if (/^[-+]$/.test(this.#text.charAt(this.#at))) this.#at++
      if (digits() === 0) throw this.#unexpected('in exponent of numeric literal')
    }
    const text = this.#text.slice(start, this.#at)
    const value = Number(text)
    if (Number.isFinite(value)) return value
    this.outOfRange ??= new JsonProblem(`json: cannot unmarshal number ${text} into Go value of type float64`)
    return null
  }

  #string(): string {
    const start = this.#at
    for (this.#at++; ; this.#at++) {
      const character = this.#text.charAt(this.#at)
      if (character === '') throw this.#unexpected('')
      if (character === '"') break
      if (character < ' ') throw this.#unexpected('in string literal')
      if (character !== '\\') continue
      this.#at++
      const escape = this.#text.charAt(this.#at)
      if (escape === 'u') this.#hexDigits()
      else if (!/^["\\/bfnrt]$/.test(escape)) throw this.#unexpected('in string escape code')
    }
    this.#at++
    const parsed = JSON.parse(this.#text.slice(start, this.#at)) as string
    return parsed.toWellFormed()
  }

  #hexDigits(): void {
    for (let count = 0; count < 4; count++) {
      this.#at++
      if (!/^[\da-fA-F]$/.test(this.#text.charAt(this.#at))) {
        throw this.#unexpected(String.raw`in \u hexadecimal character escape`)
      }
    }
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MAX_JSON_READ_DEPTH) throw new JsonProblem('exceeded max depth')
    const result = read()
    this.#depth--
    return result
  }

  #array(): GoValue {
    return this.#nested(() => {
      const items: GoValue[] = []
      this.#at++
      this.#skipSpaces()
      if (this.#text.charAt(this.#at) === ']') {
        this.#at++
        return items
      }
      for (;;) {
        items.push(this.#value())
        this.#skipSpaces()
        const character = this.#text.charAt(this.#at)
        if (character !== ',' && character !== ']') throw this.#unexpected('after array element')
        this.#at++
        if (character === ']') return items
        this.#skipSpaces()
      }
    })
  }

  #object(): GoValue {
    return this.#nested(() => {
      const map = new Map<string, GoValue>()
      this.#at++
      this.#skipSpaces()
      if (this.#text.charAt(this.#at) === '}') {
        this.#at++
        return map
      }
      for (;;) {
        if (this.#text.charAt(this.#at) !== '"') throw this.#unexpected('looking for beginning of object key string')
        const key = this.#string()
        this.#skipSpaces()
        if (this.#text.charAt(this.#at) !== ':') throw this.#unexpected('after object key')
        this.#at++
        this.#skipSpaces()
        map.set(key, this.#value())
        this.#skipSpaces()
        const character = this.#text.charAt(this.#at)
        if (character !== ',' && character !== '}') throw this.#unexpected('after object key:value pair')
        this.#at++
        if (character === '}') return map
        this.#skipSpaces()
      }
    })
  }
}

/** Go shows the byte; of a longer character, its first one. */
function shownCharacter(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0
  if (code === 39) return String.raw`'\''`
  if (code === 34) return `'"'`
  const byte = code < 128 ? code : (Buffer.from(String.fromCodePoint(code))[0] ?? 0)
  const character = String.fromCharCode(byte)
  if (byte >= 0xa1 && byte !== 0xad) return `'${character}'`
  if (byte >= 0x80) return `'\\u00${byte.toString(16)}'`
  const named: Readonly<Record<string, string>> = {
    '\n': String.raw`\n`,
    '\t': String.raw`\t`,
    '\r': String.raw`\r`,
    '\\': '\\\\',
    '\b': String.raw`\b`,
    '\f': String.raw`\f`,
    '\v': String.raw`\v`,
    '\u0007': String.raw`\a`,
  }
  if (named[character] !== undefined) return `'${named[character]}'`
  return byte < 32 || byte === 127 ? `'\\x${byte.toString(16).padStart(2, '0')}'` : `'${character}'`
}
