/**
 * Splits a YAML text into tokens by the rules of YAML 1.1 as kube-apiserver's reader implements them: a key is on one
 * line and limited in length, tabs do not indent, and indentation does not count in flow collections.
 */
import { Cursor } from './cursor.ts'
import { scanDirective, scanName, scanTag } from './scan-properties.ts'
import { scanBlock, scanPlain, scanQuoted } from './scan-scalars.ts'
import type { Plain, Token } from './tokens.ts'

/** A token that becomes a key if a colon follows. */
interface PossibleKey {
  readonly at: number
  readonly line: number
  readonly column: number
  /** Number of tokens before it. */
  readonly number: number
  /** No other token is allowed here. */
  readonly isRequired: boolean
}

const MAX_KEY_LENGTH = 1024
/** The level of a token that cannot begin a key. */
const NO_KEY = -1
/** Consumed tokens are removed in batches of this size, which costs less than removing each. */
const CONSUMED_BATCH = 256
const INDICATORS = '-?:,[]{}#&*!|>\'"%@`'

export class Scanner {
  readonly #cursor: Cursor
  /** Pending tokens, and some that are consumed. */
  #tokens: Token[] = []
  /** Number of tokens removed before these. */
  #forgotten = 0
  /** Number of consumed tokens among these. */
  #taken = 0
  #indent = -1
  readonly #indents: number[] = []
  /** One for the block context, and one for each open flow collection. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined]
  /** The next token, once it is known. */
  #next: Token | undefined
  #allowsKey = true
  #hasEnded = false

  constructor(text: string) {
    this.#cursor = new Cursor(text)
  }

  peek(): Token {
    if (this.#next) return this.#next
    while (this.#needsMore()) this.#fetch()
    this.#next = this.#tokens[this.#taken]
    if (this.#next) return this.#next
    // After the end, every token is the end.
    const { line } = this.#cursor
    return { type: 'stream end', start: line, end: line, keyLevel: NO_KEY }
  }

  skip(): void {
    this.peek()
    this.#next = undefined
    this.#taken++
    if (this.#taken < CONSUMED_BATCH) return
    this.#tokens = this.#tokens.slice(this.#taken)
    this.#forgotten += this.#taken
    this.#taken = 0
  }

  /** The next token is unknown while a key may still start before it. */
  #needsMore(): boolean {
    if (this.#hasEnded) return false
    if (this.#taken === this.#tokens.length) return true
    // The token knows the level of its key, so that deep nesting costs nothing.
    const level = this.#tokens[this.#taken]?.keyLevel ?? NO_KEY
    return level !== NO_KEY && this.#keys[level]?.number === this.#forgotten + this.#taken && this.#isValid(level)
  }

  get #isFlow(): boolean {
    return this.#keys.length > 1
  }

  #fetch(): void {
    const cursor = this.#cursor
    this.#skipToToken()
    this.#unroll(cursor.column)
    if (cursor.isEnd()) return this.#fetchEnd()
    const letter = cursor.peek()
    if (cursor.column === 0 && letter === '%') return this.#fetchDirective()
    if (cursor.isDocumentIndicator('---')) return this.#fetchDocument('document start')
    if (cursor.isDocumentIndicator('...')) return this.#fetchDocument('document end')
    switch (letter) {
      case '[':
        return this.#fetchOpening('flow sequence')
      case '{':
        return this.#fetchOpening('flow mapping')
      case ']':
        return this.#fetchClosing('flow sequence end')
      case '}':
        return this.#fetchClosing('flow mapping end')
      case ',':
        this.#dropKey()
        this.#allowsKey = true
        return this.#add('flow entry')
      case '*':
      case '&':
        return this.#fetchName(letter === '*' ? 'alias' : 'anchor')
      case '!':
        return this.#fetchTag()
      case "'":
      case '"':
        return this.#fetchQuoted()
      default:
        return this.#fetchOther(letter)
    }
  }

  /** Indicators whose meaning depends on the context. */
  #fetchOther(letter: string): void {
    const cursor = this.#cursor
    const isApart = cursor.isSpaceOrEnd(1)
    if (letter === '-' && isApart) return this.#fetchEntry()
    if (letter === '?' && (this.#isFlow || isApart)) return this.#fetchKey()
    if (letter === ':' && (this.#isFlow || isApart)) return this.#fetchValue()
    if ((letter === '|' || letter === '>') && !this.#isFlow) return this.#fetchBlock()
    // A tab here would indent.
    const isPlain = letter !== '\t' && (!INDICATORS.includes(letter) || '-?:'.includes(letter))
    if (!isPlain) throw cursor.error('found character that cannot start any token')
    this.#fetchPlain()
  }

  #skipToToken(): void {
    const cursor = this.#cursor
    for (;;) {
      while (cursor.peek() === ' ' || (cursor.peek() === '\t' && (this.#isFlow || !this.#allowsKey))) cursor.skip()
      cursor.skipComment()
      if (!cursor.isBreak()) return
      cursor.readBreak()
      if (!this.#isFlow) this.#allowsKey = true
    }
  }

  #add(type: Plain, length = 1, keyLevel = NO_KEY): void {
    const { line } = this.#cursor
    this.#cursor.skip(length)
    this.#tokens.push({ type, start: line, end: line, keyLevel })
  }

  /** A deeper column starts a collection. */
  #roll(
    type: 'block sequence' | 'block mapping',
    { line, column }: { readonly line: number; readonly column: number },
    at = this.#tokens.length,
  ): void {
    if (this.#isFlow || this.#indent >= column) return
    this.#indents.push(this.#indent)
    this.#indent = column
    this.#tokens.splice(at, 0, { type, start: line, end: line, keyLevel: NO_KEY })
  }

  /** A shallower column ends collections. */
  #unroll(column: number): void {
    if (this.#isFlow) return
    while (this.#indent > column) {
      this.#add('block end', 0)
      this.#indent = this.#indents.pop() ?? -1
    }
  }

  /** The next token may be a key. Returns its level, for the token. */
  #saveKey(): number {
    if (!this.#allowsKey) return NO_KEY
    this.#dropKey()
    const { at, line, column } = this.#cursor
    const isRequired = !this.#isFlow && this.#indent === column
    const level = this.#keys.length - 1
    this.#keys[level] = { at, line, column, number: this.#forgotten + this.#tokens.length, isRequired }
    return level
  }

  #dropKey(): void {
    const key = this.#keys.at(-1)
    if (key?.isRequired) throw this.#cursor.error("could not find expected ':'", key.line)
    this.#keys[this.#keys.length - 1] = undefined
  }

  #isValid(level: number): boolean {
    const key = this.#keys.at(level)
    if (!key) return false
    const { line, at } = this.#cursor
    if (key.line === line && key.at + MAX_KEY_LENGTH >= at) return true
    if (key.isRequired) throw this.#cursor.error("could not find expected ':'", key.line)
    this.#keys[level < 0 ? this.#keys.length + level : level] = undefined
    return false
  }

  #fetchEnd(): void {
    this.#cursor.endLine()
    this.#unroll(-1)
    this.#dropKey()
    this.#allowsKey = false
    this.#add('stream end', 0)
    this.#hasEnded = true
  }

  #fetchDirective(): void {
    this.#beginDocument()
    const start = this.#cursor.line
    const directive = scanDirective(this.#cursor)
    this.#tokens.push({ ...directive, start, end: this.#cursor.line, keyLevel: NO_KEY })
  }

  #fetchDocument(type: 'document start' | 'document end'): void {
    this.#beginDocument()
    this.#add(type, 3)
  }

  #beginDocument(): void {
    this.#unroll(-1)
    this.#dropKey()
    this.#allowsKey = false
  }

  #fetchOpening(type: 'flow sequence' | 'flow mapping'): void {
    const level = this.#saveKey()
    this.#keys.push(undefined)
    this.#allowsKey = true
    this.#add(type, 1, level)
  }

  #fetchClosing(type: 'flow sequence end' | 'flow mapping end'): void {
    this.#dropKey()
    if (this.#isFlow) this.#keys.pop()
    this.#allowsKey = false
    this.#add(type)
  }

  #fetchEntry(): void {
    if (!this.#isFlow) {
      if (!this.#allowsKey) throw this.#cursor.error('block sequence entries are not allowed in this context')
      this.#roll('block sequence', this.#cursor)
    }
    this.#dropKey()
    this.#allowsKey = true
    this.#add('block entry')
  }

  #fetchKey(): void {
    if (!this.#isFlow) {
      if (!this.#allowsKey) throw this.#cursor.error('mapping keys are not allowed in this context')
      this.#roll('block mapping', this.#cursor)
    }
    this.#dropKey()
    this.#allowsKey = !this.#isFlow
    this.#add('key')
  }

  #fetchValue(): void {
    const key = this.#isValid(-1) ? this.#keys.at(-1) : undefined
    if (key) {
      const at = key.number - this.#forgotten
      this.#tokens.splice(at, 0, { type: 'key', start: key.line, end: key.line, keyLevel: NO_KEY })
      this.#roll('block mapping', key, at)
      this.#keys[this.#keys.length - 1] = undefined
      this.#allowsKey = false
    } else {
      if (!this.#isFlow) {
        if (!this.#allowsKey) throw this.#cursor.error('mapping values are not allowed in this context')
        this.#roll('block mapping', this.#cursor)
      }
      this.#allowsKey = !this.#isFlow
    }
    this.#add('value')
  }

  #fetchName(type: 'alias' | 'anchor'): void {
    const keyLevel = this.#saveKey()
    this.#allowsKey = false
    const start = this.#cursor.line
    this.#tokens.push({ type, name: scanName(this.#cursor), start, end: this.#cursor.line, keyLevel })
  }

  #fetchTag(): void {
    const keyLevel = this.#saveKey()
    this.#allowsKey = false
    const start = this.#cursor.line
    const { handle, suffix } = scanTag(this.#cursor)
    this.#tokens.push({ type: 'tag', handle, suffix, start, end: this.#cursor.line, keyLevel })
  }

  #fetchQuoted(): void {
    const keyLevel = this.#saveKey()
    this.#allowsKey = false
    const start = this.#cursor.line
    this.#addScalar(scanQuoted(this.#cursor), false, start, keyLevel)
  }

  #fetchBlock(): void {
    this.#dropKey()
    this.#allowsKey = true
    const start = this.#cursor.line
    this.#addScalar(scanBlock(this.#cursor, this.#indent), false, start, NO_KEY)
  }

  #fetchPlain(): void {
    const keyLevel = this.#saveKey()
    this.#allowsKey = false
    const start = this.#cursor.line
    const { text, endsLine } = scanPlain(this.#cursor, this.#indent, this.#isFlow)
    if (endsLine) this.#allowsKey = true
    this.#addScalar(text, true, start, keyLevel)
  }

  #addScalar(text: string, isPlain: boolean, start: number, keyLevel: number): void {
    this.#tokens.push({ type: 'scalar', text, isPlain, start, end: this.#cursor.line, keyLevel })
  }
}
