/** Reads TOML 1.0. */
import { GoInt } from '../values/values.ts'
import type { GoMap, GoValue } from '../values/values.ts'
import { goTime } from '../time/go-time.ts'

/** Malformed TOML. */
export class TomlProblem extends Error {}

const MAX_TOML_READ_DEPTH = 200

export function readToml(text: string): GoValue {
  return new TomlReader(text.replaceAll('\r\n', '\n')).document()
}

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:([Zz])|([-+]\d{2}):(\d{2}))?)?/

class TomlReader {
  readonly #text: string
  #at = 0
  #depth = 0
  readonly #root: GoMap = new Map()
  /** Tables that a header defined, which must not be defined again. */
  readonly #defined = new Set<GoMap>()
  /** Inline tables and lists, which cannot be extended. */
  readonly #closed = new Set<GoValue>()

  constructor(text: string) {
    this.#text = text
  }

  document(): GoValue {
    let table = this.#root
    for (;;) {
      this.#skipLines()
      if (this.#at >= this.#text.length) return this.#root
      if (this.#text[this.#at] === '[') table = this.#header()
      else this.#keyValue(table)
      this.#endOfLine()
    }
  }

  #problem(text: string): TomlProblem {
    return new TomlProblem(`toml: line ${this.#text.slice(0, this.#at).split('\n').length}: ${text}`)
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at++
  }

  #skipComment(): void {
    if (this.#text[this.#at] !== '#') return
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#text.length : end
  }

  #skipLines(): void {
    for (;;) {
      this.#skipSpaces()
      this.#skipComment()
      if (this.#text[this.#at] !== '\n') return
      this.#at++
    }
  }

  #endOfLine(): void {
    this.#skipSpaces()
    this.#skipComment()
    if (this.#at < this.#text.length && this.#text[this.#at] !== '\n') {
      throw this.#problem(
        `expected a top-level item to end with a newline, comment, or EOF, but got '${this.#text[this.#at]}' instead`,
      )
    }
  }

  #header(): GoMap {
    const isList = this.#text.startsWith('[[', this.#at)
    this.#at += isList ? 2 : 1
    this.#skipSpaces()
    const key = this.#key()
    this.#skipSpaces()
    const close = isList ? ']]' : ']'
    if (!this.#text.startsWith(close, this.#at)) throw this.#problem(`expected '${close}' at the end of a table name`)
    this.#at += close.length
    const parent = this.#descend(this.#root, key.slice(0, -1))
    const name = key.at(-1) ?? ''
    return isList ? this.#listTable(parent, name, key) : this.#plainTable(parent, name, key)
  }

  #listTable(parent: GoMap, name: string, key: readonly string[]): GoMap {
    const list = parent.get(name)
    const table: GoMap = new Map()
    if (list === undefined) parent.set(name, [table])
    else if (Array.isArray(list) && !this.#closed.has(list)) (list as GoValue[]).push(table)
    else throw this.#problem(`Key '${key.join('.')}' has already been defined.`)
    return table
  }

  #plainTable(parent: GoMap, name: string, key: readonly string[]): GoMap {
    const old = parent.get(name)
    if (old === undefined) {
      const table: GoMap = new Map()
      parent.set(name, table)
      this.#defined.add(table)
      return table
    }
    if (!(old instanceof Map) || this.#defined.has(old) || this.#closed.has(old)) {
      throw this.#problem(`Key '${key.join('.')}' has already been defined.`)
    }
    this.#defined.add(old)
    return old
  }

  /** The table at the path, with tables added where there are none. */
  #descend(from: GoMap, path: readonly string[]): GoMap {
    let table = from
    for (const name of path) {
      const next = table.get(name)
      if (next === undefined) {
        const created: GoMap = new Map()
        table.set(name, created)
        table = created
        continue
      }
      const last: GoValue = Array.isArray(next) ? (next as readonly GoValue[]).at(-1) : next
      if (!(last instanceof Map) || this.#closed.has(next)) throw this.#problem(`Key '${name}' is not a table.`)
      table = last
    }
    return table
  }

  #keyValue(table: GoMap): void {
    const key = this.#key()
    this.#skipSpaces()
    if (this.#text[this.#at] !== '=')
      throw this.#problem(`expected '.' or '=', but got '${this.#text[this.#at] ?? 'EOF'}' instead`)
    this.#at++
    this.#skipSpaces()
    const parent = this.#descend(table, key.slice(0, -1))
    const name = key.at(-1) ?? ''
    if (parent.has(name)) throw this.#problem(`Key '${key.join('.')}' has already been defined.`)
    parent.set(name, this.#value())
  }

  #key(): readonly string[] {
    const parts: string[] = []
    for (;;) {
      this.#skipSpaces()
      const quote = this.#text[this.#at]
      if (quote === '"') parts.push(this.#basicString())
      else if (quote === "'") parts.push(this.#literalString())
      else {
        const bare = /[A-Za-z0-9_-]*/y
        bare.lastIndex = this.#at
        const name = bare.exec(this.#text)?.[0] ?? ''
        if (name === '') throw this.#problem('unexpected character in a key')
        this.#at += name.length
        parts.push(name)
      }
      this.#skipSpaces()
      if (this.#text[this.#at] !== '.') return parts
      this.#at++
    }
  }

  #value(): GoValue {
    if (++this.#depth > MAX_TOML_READ_DEPTH) throw this.#problem('value is nested too deep')
    const value = this.#plainValue()
    this.#depth--
    return value
  }

  #plainValue(): GoValue {
    const rest = this.#text.slice(this.#at, this.#at + 3)
    if (rest === '"""') return this.#multiline('"""')
    if (rest === "'''") return this.#multiline("'''")
    if (rest.startsWith('"')) return this.#basicString()
    if (rest.startsWith("'")) return this.#literalString()
    if (rest.startsWith('[')) return this.#list()
    if (rest.startsWith('{')) return this.#inlineTable()
    return this.#atom()
  }

  #list(): GoValue {
    const items: GoValue[] = []
    this.#at++
    for (;;) {
      this.#skipLines()
      if (this.#text[this.#at] === ']') break
      items.push(this.#value())
      this.#skipLines()
      if (this.#text[this.#at] === ',') this.#at++
      else if (this.#text[this.#at] !== ']') throw this.#problem("expected a comma (',') or array terminator (']')")
    }
    this.#at++
    this.#closed.add(items)
    return items
  }

  #inlineTable(): GoValue {
    const table: GoMap = new Map()
    this.#at++
    this.#skipSpaces()
    while (this.#text[this.#at] !== '}') {
      this.#keyValue(table)
      this.#skipSpaces()
      if (this.#text[this.#at] === ',') {
        this.#at++
        this.#skipSpaces()
      } else if (this.#text[this.#at] !== '}') throw this.#problem("expected a comma or an inline table terminator '}'")
    }
    this.#at++
    this.#closed.add(table)
    return table
  }

  #literalString(): string {
    const end = this.#text.indexOf("'", this.#at + 1)
    const line = this.#text.indexOf('\n', this.#at)
    if (end < 0 || (line >= 0 && line < end)) throw this.#problem('strings cannot contain newlines')
    const value = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    return value
  }

  #basicString(): string {
    let value = ''
    for (this.#at++; this.#text[this.#at] !== '"';) {
      const character = this.#text[this.#at]
      if (character === undefined || character === '\n') throw this.#problem('strings cannot contain newlines')
      if (character === '\\') value += this.#escape()
      else {
        value += character
        this.#at++
      }
    }
    this.#at++
    return value
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? ''
    const simple: Readonly<Record<string, string>> = {
      b: '\b',
      t: '\t',
      n: '\n',
      f: '\f',
      r: '\r',
      e: '\u001B',
      '"': '"',
      '\\': '\\',
    }
    const value = simple[letter]
    if (value !== undefined) {
      this.#at += 2
      return value
    }
    const size = { x: 2, u: 4, U: 8 }[letter]
    const digits = this.#text.slice(this.#at + 2, this.#at + 2 + (size ?? 0))
    const code = Number.parseInt(digits, 16)
    const isBad = size === undefined || !/^[\da-fA-F]+$/.test(digits) || digits.length !== size
    if (isBad || code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw this.#problem(`invalid escape character '${letter}'`)
    }
    this.#at += 2 + digits.length
    return String.fromCodePoint(code)
  }

  #multiline(quote: '"""' | "'''"): string {
    this.#at += 3
    if (this.#text[this.#at] === '\n') this.#at++
    let value = ''
    while (!this.#text.startsWith(quote, this.#at)) {
      const character = this.#text[this.#at]
      if (character === undefined) throw this.#problem(`unexpected EOF; expected '${quote}'`)
      if (character !== '\\' || quote === "'''") {
        value += character
        this.#at++
        continue
      }
      const folded = /\\[ \t]*\n\s*/y
      folded.lastIndex = this.#at
      const skipped = folded.exec(this.#text)?.[0]
      if (skipped === undefined) value += this.#escape()
      else this.#at += skipped.length
    }
    this.#at += 3
    // Up to two quotes may stand directly before the end.
    const mark = quote.charAt(0)
    while (this.#text[this.#at] === mark) {
      value += mark
      this.#at++
    }
    return value
  }

  #atom(): GoValue {
    const rest = this.#text.slice(this.#at, this.#at + 100)
    const date = DATE_TIME.exec(rest)
    if (date) {
      this.#at += date[0].length
      return this.#dateTime(date)
    }
    const word = /^[^\s,\]}#=]*/.exec(rest)?.[0] ?? ''
    this.#at += word.length
    const value = number(word)
    if (value === undefined) {
      this.#at -= word.length
      throw this.#problem(`expected value but found '${word.charAt(0) || this.#text.charAt(this.#at)}' instead`)
    }
    return value
  }

  #dateTime([
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    zulu,
    offset,
    offsetMinutes,
  ]: RegExpExecArray): GoValue {
    const time = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
    const minutes =
      offset === undefined ? 0 : Number(offset) * 60 + Math.sign(Number(offset) || 1) * Number(offsetMinutes)
    const nanoseconds = BigInt(time - minutes * 60_000) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
    if (zulu !== undefined || offset === undefined) return goTime({ nanoseconds, zone: { name: 'UTC', offset: 0 } })
    return goTime({ nanoseconds, zone: { name: '', offset: minutes * 60 } })
  }
}

function number(word: string): GoValue {
  if (word === 'true') return true
  if (word === 'false') return false
  if (/^[-+]?inf$/.test(word)) return word.startsWith('-') ? -Infinity : Infinity
  if (/^[-+]?nan$/.test(word)) return NaN
  if (/__|^_|_$|_\.|\._|_e|e_/i.test(word)) return undefined
  const plain = word.replaceAll('_', '')
  if (/^[-+]?(?:0|[1-9]\d*)$/.test(plain)) return new GoInt('int64', BigInt(plain.replace(/^\+/, '')))
  if (/^0(?:x[\da-fA-F]+|o[0-7]+|b[01]+)$/.test(plain)) return new GoInt('int64', BigInt(plain))
  return /^[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(plain) ? Number(plain) : undefined
}
