/**
 * Splits a YAML text into tokens by the rules of YAML 1.1 as kube-apiserver's reader implements them: a key is on one
 * line and limited in length, tabs do not indent, and indentation does not count in flow collections.
 */
import { Cursor } from './cursor.ts'
import type { Mark } from './cursor.ts'
import { scanDirective, scanName, scanTag } from './scan-properties.ts'
import { scanBlock, scanPlain, scanQuoted } from './scan-scalars.ts'
import type { Plain, Token } from './tokens.ts'

/** A token that becomes a key if a colon follows. */
interface PossibleKey {
  readonly mark: Mark
  /** Number of tokens before it. */
  readonly number: number
  /** No other token is allowed here. */
  readonly isRequired: boolean
}

const MAX_KEY_LENGTH = 1024
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
  /** The level of the possible key that starts at a token, by the token's number; so that deep nesting costs nothing. */
  readonly #levels = new Map<number, number>()
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
    const { mark } = this.#cursor
    return { type: 'stream end', start: mark, end: mark }
  }

  skip(): void {
    this.peek()
    this.#next = undefined
    this.#levels.delete(this.#forgotten + this.#taken)
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
    const number = this.#forgotten + this.#taken
    const level = this.#levels.get(number)
    return level !== undefined && this.#keys[level]?.number === number && this.#isValid(level)
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
        return this.#fetchKeyPart(() => ({ type: letter === '*' ? 'alias' : 'anchor', name: scanName(cursor) }))
      case '!':
        return this.#fetchKeyPart(() => ({ type: 'tag', ...scanTag(cursor) }))
      case "'":
      case '"':
        return this.#fetchKeyPart(() => ({ type: 'scalar', text: scanQuoted(cursor), isPlain: false }))
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

  #add(type: Plain, length = 1): void {
    const start = this.#cursor.mark
    this.#cursor.skip(length)
    this.#tokens.push({ type, start, end: this.#cursor.mark })
  }

  /** A deeper column starts a collection. */
  #roll(type: 'block sequence' | 'block mapping', mark: Mark, at = this.#tokens.length): void {
    if (this.#isFlow || this.#indent >= mark.column) return
    this.#indents.push(this.#indent)
    this.#indent = mark.column
    this.#tokens.splice(at, 0, { type, start: mark, end: mark })
  }

  /** A shallower column ends collections. */
  #unroll(column: number): void {
    if (this.#isFlow) return
    while (this.#indent > column) {
      const { mark } = this.#cursor
      this.#tokens.push({ type: 'block end', start: mark, end: mark })
      this.#indent = this.#indents.pop() ?? -1
    }
  }

  #saveKey(): void {
    if (!this.#allowsKey) return
    this.#dropKey()
    const { mark } = this.#cursor
    const isRequired = !this.#isFlow && this.#indent === mark.column
    const number = this.#forgotten + this.#tokens.length
    this.#keys[this.#keys.length - 1] = { mark, number, isRequired }
    this.#levels.set(number, this.#keys.length - 1)
  }

  #dropKey(): void {
    const key = this.#keys.at(-1)
    if (key?.isRequired) throw this.#cursor.error("could not find expected ':'", key.mark)
    this.#keys[this.#keys.length - 1] = undefined
  }

  #isValid(level: number): boolean {
    const key = this.#keys.at(level)
    if (!key) return false
    const { line, at } = this.#cursor
    if (key.mark.line === line && key.mark.at + MAX_KEY_LENGTH >= at) return true
    if (key.isRequired) throw this.#cursor.error("could not find expected ':'", key.mark)
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
    const start = this.#cursor.mark
    const directive = scanDirective(this.#cursor)
    this.#tokens.push({ ...directive, start, end: this.#cursor.mark })
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
    this.#saveKey()
    this.#keys.push(undefined)
    this.#allowsKey = true
    this.#add(type)
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
      this.#roll('block sequence', this.#cursor.mark)
    }
    this.#dropKey()
    this.#allowsKey = true
    this.#add('block entry')
  }

  #fetchKey(): void {
    if (!this.#isFlow) {
      if (!this.#allowsKey) throw this.#cursor.error('mapping keys are not allowed in this context')
      this.#roll('block mapping', this.#cursor.mark)
    }
    this.#dropKey()
    this.#allowsKey = !this.#isFlow
    this.#add('key')
  }

  #fetchValue(): void {
    const key = this.#isValid(-1) ? this.#keys.at(-1) : undefined
    if (key) {
      const at = key.number - this.#forgotten
      this.#tokens.splice(at, 0, { type: 'key', start: key.mark, end: key.mark })
      this.#roll('block mapping', key.mark, at)
      this.#keys[this.#keys.length - 1] = undefined
      this.#allowsKey = false
    } else {
      if (!this.#isFlow) {
        if (!this.#allowsKey) throw this.#cursor.error('mapping values are not allowed in this context')
        this.#roll('block mapping', this.#cursor.mark)
      }
      this.#allowsKey = !this.#isFlow
    }
    this.#add('value')
  }

  #fetchKeyPart(scan: () => Scanned): void {
    this.#saveKey()
    this.#allowsKey = false
    this.#scanned(scan)
  }

  #fetchBlock(): void {
    this.#dropKey()
    this.#allowsKey = true
    this.#scanned(() => ({ type: 'scalar', text: scanBlock(this.#cursor, this.#indent), isPlain: false }))
  }

  #fetchPlain(): void {
    this.#saveKey()
    this.#allowsKey = false
    this.#scanned(() => {
      const { text, endsLine } = scanPlain(this.#cursor, { indent: this.#indent, isFlow: this.#isFlow })
      if (endsLine) this.#allowsKey = true
      return { type: 'scalar', text, isPlain: true }
    })
  }

  #scanned(scan: () => Scanned): void {
    const start = this.#cursor.mark
    const token = scan()
    this.#tokens.push({ ...token, start, end: this.#cursor.mark })
  }
}

type Scanned =
  | { readonly type: 'alias' | 'anchor'; readonly name: string }
  | { readonly type: 'tag'; readonly handle: string; readonly suffix: string }
  | { readonly type: 'scalar'; readonly text: string; readonly isPlain: boolean }
