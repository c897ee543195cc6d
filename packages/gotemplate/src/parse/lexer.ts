/** Splits a template into tokens. */
import { byteLength } from '../values/bytes.ts'
import { isPrintable, quote } from '../format/quote.ts'

export type TokenType =
  | 'error'
  | 'bool'
  | 'char'
  | 'character'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'left delimiter'
  | '('
  | 'number'
  | 'pipe'
  | 'raw string'
  | 'right delimiter'
  | ')'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword

export type Keyword =
  | 'block'
  | 'break'
  | 'continue'
  | 'dot'
  | 'define'
  | 'else'
  | 'end'
  | 'if'
  | 'nil'
  | 'range'
  | 'template'
  | 'with'

export interface LexedToken {
  readonly type: TokenType
  /** The offset in the text, in UTF-16 units. */
  readonly at: number
  readonly value: string
  /** From 1. */
  readonly line: number
}

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  (['block', 'break', 'continue', 'define', 'else', 'end', 'if', 'nil', 'range', 'template', 'with'] as const).map(
    (word) => [word, word],
  ),
)
const KEYWORD_TYPES: ReadonlySet<string> = new Set([...KEYWORDS.values(), 'dot'])

const LEFT = '{{'
const RIGHT = '}}'
const WORD_CHARACTER = /[\p{L}\p{Nd}]/u

/** The token as errors show it. */
export function shownToken({ type, value }: LexedToken): string {
  if (type === 'eof') return 'EOF'
  if (type === 'error') return value
  if (KEYWORD_TYPES.has(type)) return `<${value}>`
  if (byteLength(value) > 10) return `${quote(Array.from(value).slice(0, 10).join(''))}...`
  return quote(value)
}

const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 13 || code === 10

export class Lexer {
  readonly #text: string
  #at = 0
  #start = 0
  #isInside = false
  #parentheses = 0
  /** Newlines are counted up to this offset. */
  #counted = 0
  #line = 1
  #hasFailed = false

  constructor(text: string) {
    this.#text = text
  }

  next(): LexedToken {
    if (this.#hasFailed) return { type: 'eof', at: 0, value: 'EOF', line: this.#line }
    return this.#isInside ? this.#action() : this.#outside()
  }

  #lineAt(offset: number): number {
    for (;;) {
      const newline = this.#text.indexOf('\n', this.#counted)
      if (newline < 0 || newline >= offset) return this.#line
      this.#line++
      this.#counted = newline + 1
    }
  }

  #emit(type: TokenType): LexedToken {
    const at = this.#start
    const token = { type, at, value: this.#text.slice(at, this.#at), line: this.#lineAt(at) }
    this.#start = this.#at
    return token
  }

  #error(message: string): LexedToken {
    this.#hasFailed = true
    return { type: 'error', at: this.#start, value: message, line: this.#lineAt(this.#start) }
  }

  #outside(): LexedToken {
    for (;;) {
      const text = this.#text
      const delimiter = text.indexOf(LEFT, this.#at)
      if (delimiter < 0) {
        this.#at = text.length
        return this.#at > this.#start ? this.#emit('text') : { ...this.#emit('eof'), value: 'EOF' }
      }
      if (delimiter > this.#at) {
        let end = delimiter
        if (this.#hasTrimAfter(delimiter + 2)) {
          while (end > this.#start && isSpace(text.charCodeAt(end - 1))) end--
        }
        this.#at = end
        const token = end > this.#start ? this.#emit('text') : undefined
        this.#at = this.#start = delimiter
        if (token) return token
      }
      const afterMarker = delimiter + 2 + (this.#hasTrimAfter(delimiter + 2) ? 2 : 0)
      if (!text.startsWith('/*', afterMarker)) {
        this.#start = delimiter
        this.#at = delimiter + 2
        const token = this.#emit('left delimiter')
        this.#start = this.#at = afterMarker
        this.#isInside = true
        this.#parentheses = 0
        return token
      }
      this.#start = this.#at = afterMarker
      const error = this.#comment()
      if (error) return error
    }
  }

  #comment(): LexedToken | undefined {
    const end = this.#text.indexOf('*/', this.#at + 2)
    if (end < 0) return this.#error('unclosed comment')
    this.#at = end + 2
    const isTrimmed = this.#hasTrimmedRight(this.#at)
    if (!isTrimmed && !this.#text.startsWith(RIGHT, this.#at)) {
      return this.#error('comment ends before closing delimiter')
    }
    this.#at += isTrimmed ? 4 : 2
    if (isTrimmed) this.#skipSpaces()
    this.#start = this.#at
    return undefined
  }

  /** `- ` after a left delimiter. */
  #hasTrimAfter(at: number): boolean {
    return this.#text.charCodeAt(at) === 45 && isSpace(this.#text.charCodeAt(at + 1))
  }

  /** ` -}}` */
  #hasTrimmedRight(at: number): boolean {
    return (
      isSpace(this.#text.charCodeAt(at)) && this.#text.charCodeAt(at + 1) === 45 && this.#text.startsWith(RIGHT, at + 2)
    )
  }

  #skipSpaces(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #right(isTrimmed: boolean): LexedToken {
    if (isTrimmed) this.#start = this.#at += 2
    this.#at += 2
    const token = this.#emit('right delimiter')
    if (isTrimmed) {
      this.#skipSpaces()
      this.#start = this.#at
    }
    this.#isInside = false
    return token
  }

  #action(): LexedToken {
    const text = this.#text
    const code = text.charCodeAt(this.#at)
    const isTrimmed = isSpace(code) && this.#hasTrimmedRight(this.#at)
    if (isTrimmed || (code === 125 && text.charCodeAt(this.#at + 1) === 125)) {
      return this.#parentheses === 0 ? this.#right(isTrimmed) : this.#error('unclosed left paren')
    }
    if (this.#at >= text.length) return this.#error('unclosed action')
    if (isSpace(code)) return this.#space()
    const character = String.fromCodePoint(text.codePointAt(this.#at) ?? 0)
    this.#at += character.length
    switch (character) {
      case '=':
        return this.#emit('assign')
      case ':':
        if (text[this.#at] !== '=') return this.#error('expected :=')
        this.#at++
        return this.#emit('declare')
      case '|':
        return this.#emit('pipe')
      case '"':
        return this.#quoted('"', 'string', 'unterminated quoted string')
      case "'":
        return this.#quoted("'", 'character', 'unterminated character constant')
      case '`': {
        const end = text.indexOf('`', this.#at)
        if (end < 0) return this.#error('unterminated raw quoted string')
        this.#at = end + 1
        return this.#emit('raw string')
      }
      case '$':
        return this.#isTerminator() ? this.#emit('variable') : this.#word('variable')
      case '.': {
        const next = text.charCodeAt(this.#at)
        if (next >= 48 && next <= 57) return this.#number()
        // At the end of the text, a point begins a number.
        if (this.#at >= text.length) return this.#number()
        return this.#isTerminator() ? this.#emit('dot') : this.#word('field')
      }
      case '(':
        this.#parentheses++
        return this.#emit('(')
      case ')':
        if (--this.#parentheses < 0) return this.#error('unexpected right paren')
        return this.#emit(')')
      default:
    }
    if (character === '+' || character === '-' || (code >= 48 && code <= 57)) return this.#number()
    if (isWord(character)) return this.#identifier()
    if (code > 32 && code < 127) return this.#emit('char')
    return this.#error(`unrecognized character in action: ${shownCharacter(character)}`)
  }

  #space(): LexedToken {
    const first = this.#at
    this.#skipSpaces()
    if (this.#hasTrimmedRight(this.#at - 1)) {
      this.#at--
      if (this.#at === first) return this.#right(true)
    }
    return this.#emit('space')
  }

  #quoted(end: string, type: TokenType, problem: string): LexedToken {
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]
      if (character === '\\' && this.#text[this.#at + 1] !== '\n' && this.#at + 1 < this.#text.length) this.#at++
      else if (character === '\n' || character === '\\') break
      else if (character === end) {
        this.#at++
        return this.#emit(type)
      }
    }
    return this.#error(problem)
  }

  #skipWord(): void {
    for (;;) {
      const character = this.#text.codePointAt(this.#at)
      if (character === undefined) return
      const text = String.fromCodePoint(character)
      if (!isWord(text)) return
      this.#at += text.length
    }
  }

  #word(type: 'variable' | 'field'): LexedToken {
    this.#skipWord()
    return this.#isTerminator() ? this.#emit(type) : this.#badCharacter()
  }

  #identifier(): LexedToken {
    this.#skipWord()
    if (!this.#isTerminator()) return this.#badCharacter()
    const word = this.#text.slice(this.#start, this.#at)
    if (word === 'true' || word === 'false') return this.#emit('bool')
    return this.#emit(KEYWORDS.get(word) ?? 'identifier')
  }

  #badCharacter(): LexedToken {
    return this.#error(`bad character ${shownCharacter(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0))}`)
  }

  #isTerminator(): boolean {
    if (this.#at >= this.#text.length) return true
    const code = this.#text.charCodeAt(this.#at)
    return isSpace(code) || '.,|:)('.includes(this.#text[this.#at] ?? '') || this.#text.startsWith(RIGHT, this.#at)
  }

  #number(): LexedToken {
    this.#at = this.#start
    const isGood = this.#scanNumber()
    if (!isGood) return this.#badNumber()
    const sign = this.#text[this.#at]
    if (sign !== '+' && sign !== '-') return this.#emit('number')
    if (!this.#scanNumber() || this.#text[this.#at - 1] !== 'i') return this.#badNumber()
    return this.#emit('complex')
  }

  #badNumber(): LexedToken {
    return this.#error(`bad number syntax: ${quote(this.#text.slice(this.#start, this.#at))}`)
  }

  #accept(characters: string): boolean {
    const character = this.#text[this.#at]
    if (character === undefined || !characters.includes(character)) return false
    this.#at++
    return true
  }

  #scanNumber(): boolean {
    this.#accept('+-')
    let digits = '0123456789_'
    if (this.#accept('0')) {
      if (this.#accept('xX')) digits = '0123456789abcdefABCDEF_'
      else if (this.#accept('oO')) digits = '01234567_'
      else if (this.#accept('bB')) digits = '01_'
    }
    while (this.#accept(digits));
    if (this.#accept('.')) while (this.#accept(digits));
    if (digits.length === 11 ? this.#accept('eE') : digits.length === 23 && this.#accept('pP')) {
      this.#accept('+-')
      while (this.#accept('0123456789_'));
    }
    this.#accept('i')
    const next = this.#text.codePointAt(this.#at)
    if (next === undefined || !isWord(String.fromCodePoint(next))) return true
    this.#at += next > 0xffff ? 2 : 1
    return false
  }
}

function isWord(character: string): boolean {
  const code = character.charCodeAt(0)
  if (code < 128)
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
  return WORD_CHARACTER.test(character)
}

/** As `%#U` prints it. */
function shownCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  return isPrintable(point) ? `${code} '${character}'` : code
}
