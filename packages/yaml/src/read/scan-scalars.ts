/** Scans the text of scalars: plain, quoted and block. */
import type { Cursor } from './cursor.ts'

const COMMA = 0x2c
const COLON = 0x3a
const QUESTION_MARK = 0x3f
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** White space inside a scalar: on one line it is kept, and a line break becomes a space. */
class Gap {
  #spaces = ''
  #first = ''
  #more = ''
  isBroken = false

  /** Consumes white space at the cursor. */
  take(cursor: Cursor, check?: () => void): void {
    while (cursor.isBlank() || cursor.isBreak()) {
      if (cursor.isBreak()) this.#break(cursor.readBreak())
      else {
        if (this.isBroken) check?.()
        else this.#spaces += cursor.peek()
        cursor.skip()
      }
    }
  }

  #break(line: string): void {
    if (this.isBroken) this.#more += line
    else {
      this.#spaces = ''
      this.#first = line
      this.isBroken = true
    }
  }

  text(): string {
    if (!this.isBroken) return this.#spaces
    if (this.#first !== '\n') return this.#first + this.#more
    return this.#more === '' ? ' ' : this.#more
  }

  /** An escaped line break: the white space after it is ignored. */
  static escaped(): Gap {
    const gap = new Gap()
    gap.isBroken = true
    gap.#first = ''
    return gap
  }
}

export interface PlainScalar {
  readonly text: string
  /** The text continues on another line. */
  readonly endsLine: boolean
}

/** `indent`: that of the collection around it; `isFlow`: that is a flow collection. */
export function scanPlain(cursor: Cursor, indent: number, isFlow: boolean): PlainScalar {
  const start = cursor.line
  const least = indent + 1
  const checkTab = (): void => {
    if (cursor.column < least && cursor.peek() === '\t') {
      throw cursor.error('found a tab character that violates indentation', start)
    }
  }
  let text = ''
  let gap: Gap | undefined
  for (;;) {
    if (cursor.isDocumentIndicator() || cursor.peek() === '#') break
    const from = cursor.at
    cursor.at = endOfWord(cursor, isFlow)
    if (cursor.at > from) {
      const word = cursor.text.slice(from, cursor.at)
      text = gap ? text + gap.text() + word : word
      gap = undefined
    }
    if (!cursor.isBlank() && !cursor.isBreak()) break
    gap ??= new Gap()
    gap.take(cursor, checkTab)
    if (!isFlow && cursor.column < least) break
  }
  return { text, endsLine: gap?.isBroken ?? false }
}

/** The index after the characters of plain text before the next white space. */
function endOfWord(cursor: Cursor, isFlow: boolean): number {
  const { text, at: from } = cursor
  let at = from
  for (; !cursor.isSpaceOrEnd(at - from); at++) {
    switch (text.charCodeAt(at)) {
      case COLON:
        if (cursor.isSpaceOrEnd(at - from + 1)) return at
        break
      case COMMA:
      case QUESTION_MARK:
      case OPENING_BRACKET:
      case CLOSING_BRACKET:
      case OPENING_BRACE:
      case CLOSING_BRACE:
        if (isFlow) return at
        break
      default:
    }
  }
  return at
}

export function scanQuoted(cursor: Cursor): string {
  const start = cursor.line
  const quote = cursor.peek()
  cursor.skip()
  let text = ''
  for (;;) {
    if (cursor.isDocumentIndicator()) throw cursor.error('found unexpected document indicator', start)
    if (cursor.isEnd()) throw cursor.error('found unexpected end of stream', start)
    let gap = new Gap()
    while (!cursor.isSpaceOrEnd() && cursor.peek() !== quote) {
      if (quote === '"' && cursor.peek() === '\\') {
        if (cursor.isBreak(1)) {
          cursor.skip()
          cursor.readBreak()
          gap = Gap.escaped()
          break
        }
        text += scanEscape(cursor, start)
      } else {
        const from = cursor.at
        do cursor.skip()
        while (!cursor.isSpaceOrEnd() && cursor.peek() !== quote && cursor.peek() !== '\\')
        text += cursor.text.slice(from, cursor.at)
      }
    }
    if (cursor.peek() === quote) {
      if (quote === '"' || cursor.peek(1) !== "'") break
      text += "'"
      cursor.skip(2)
      continue
    }
    gap.take(cursor)
    text += gap.text()
  }
  cursor.skip()
  return text
}

const ESCAPES: Readonly<Record<string, string>> = {
  0: '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1B',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00A0',
  L: '\u2028',
  P: '\u2029',
}
const HEXADECIMAL: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

function scanEscape(cursor: Cursor, start: number): string {
  const letter = cursor.peek(1)
  const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
  if (plain !== undefined) {
    cursor.skip(2)
    return plain
  }
  const length = Object.hasOwn(HEXADECIMAL, letter) ? HEXADECIMAL[letter] : undefined
  if (length === undefined) throw cursor.error('found unknown escape character', start)
  cursor.skip(2)
  const digits = cursor.text.slice(cursor.at, cursor.at + length)
  if (digits.length < length || !/^[\da-fA-F]*$/.test(digits)) {
    throw cursor.error('did not find expected hexdecimal number', start)
  }
  const code = Number.parseInt(digits, 16)
  if ((code >= 0xd8_00 && code <= 0xdf_ff) || code > 0x10_ff_ff) {
    throw cursor.error('found invalid Unicode character escape code', start)
  }
  cursor.skip(length)
  return String.fromCodePoint(code)
}

/** A block scalar, below `|` or `>`. */
export function scanBlock(cursor: Cursor, parentIndent: number): string {
  const start = cursor.line
  const isLiteral = cursor.peek() === '|'
  cursor.skip()
  const { keeps, increment } = scanBlockHeader(cursor, start)
  const lines = new BlockLines(cursor, start, parentIndent)
  if (increment > 0) lines.indent = Math.max(parentIndent, 0) + increment
  let text = ''
  let end = ''
  let empty = lines.skipEmpty()
  let wasIndented = false
  while (cursor.column === lines.indent && !cursor.isEnd()) {
    const isIndented = cursor.isBlank()
    const folds = !isLiteral && end.startsWith('\n') && !wasIndented && !isIndented
    text += (folds ? (empty === '' ? ' ' : '') : end) + empty
    wasIndented = isIndented
    const from = cursor.at
    while (!cursor.isBreakOrEnd()) cursor.skip()
    text += cursor.text.slice(from, cursor.at)
    end = cursor.readBreak()
    empty = lines.skipEmpty()
  }
  if (keeps === 'nothing') return text
  return keeps === 'all' ? text + end + empty : text + end
}

interface BlockHeader {
  readonly keeps: 'nothing' | 'one' | 'all'
  readonly increment: number
}

function scanBlockHeader(cursor: Cursor, start: number): BlockHeader {
  const found = /[-+]\d?|\d[-+]?/y
  found.lastIndex = cursor.at
  const header = found.exec(cursor.text)?.[0] ?? ''
  const digit = /\d/.exec(header)?.[0]
  if (digit === '0') throw cursor.error('found an indentation indicator equal to 0', start)
  cursor.skip(header.length)
  cursor.skipBlanks()
  cursor.skipComment()
  if (!cursor.isBreakOrEnd()) throw cursor.error('did not find expected comment or line break', start)
  cursor.readBreak()
  const keeps = header.includes('+') ? 'all' : header.includes('-') ? 'nothing' : 'one'
  return { keeps, increment: Number(digit ?? 0) }
}

/** The indentation of a block scalar, given by its first line unless it is explicit. */
class BlockLines {
  /** 0 until known. */
  indent = 0
  readonly #cursor: Cursor
  readonly #start: number
  readonly #parentIndent: number

  constructor(cursor: Cursor, start: number, parentIndent: number) {
    this.#cursor = cursor
    this.#start = start
    this.#parentIndent = parentIndent
  }

  /** Skips empty lines up to the next line with text. */
  skipEmpty(): string {
    const cursor = this.#cursor
    let breaks = ''
    let widest = 0
    for (;;) {
      while (this.#isBefore() && cursor.peek() === ' ') cursor.skip()
      widest = Math.max(widest, cursor.column)
      if (this.#isBefore() && cursor.peek() === '\t') {
        throw cursor.error('found a tab character where an indentation space is expected', this.#start)
      }
      if (!cursor.isBreak()) break
      breaks += cursor.readBreak()
    }
    if (this.indent === 0) this.indent = Math.max(widest, this.#parentIndent + 1, 1)
    return breaks
  }

  #isBefore(): boolean {
    return this.indent === 0 || this.#cursor.column < this.indent
  }
}
