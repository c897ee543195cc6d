/** A position in a YAML text. */

/** A syntax error and its line, which is undefined for the first line, as in kube-apiserver. */
export class YamlError extends Error {
  readonly problem: string
  readonly line: number | undefined

  constructor(problem: string, line: number | undefined) {
    super(`yaml: ${line === undefined || line === 0 ? '' : `line ${line}: `}${problem}`)
    this.problem = problem
    this.line = line === 0 ? undefined : line
  }
}

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const NEL = 0x85
const LINE_SEPARATOR = 0x20_28
const PARAGRAPH_SEPARATOR = 0x20_29

function isBreakCode(code: number): boolean {
  if (code > CARRIAGE_RETURN && code < NEL) return false
  return (
    code === LINE_FEED ||
    code === CARRIAGE_RETURN ||
    code === NEL ||
    code === LINE_SEPARATOR ||
    code === PARAGRAPH_SEPARATOR
  )
}

export class Cursor {
  readonly text: string
  at = 0
  /** From 0. */
  line = 0
  #lineStart = 0

  constructor(text: string) {
    this.text = text
    // The byte order mark was used to decode the text.
    if (text.startsWith('\uFEFF')) this.#lineStart = this.at = 1
  }

  get column(): number {
    return this.at - this.#lineStart
  }

  /** Empty at the end. */
  peek(ahead = 0): string {
    return this.text.charAt(this.at + ahead)
  }

  /** A space or a tab. */
  isBlank(ahead = 0): boolean {
    const code = this.text.charCodeAt(this.at + ahead)
    return code === SPACE || code === TAB
  }

  isBreak(ahead = 0): boolean {
    return isBreakCode(this.text.charCodeAt(this.at + ahead))
  }

  isEnd(ahead = 0): boolean {
    return this.at + ahead >= this.text.length
  }

  isBreakOrEnd(ahead = 0): boolean {
    return this.isBreak(ahead) || this.isEnd(ahead)
  }

  isSpaceOrEnd(ahead = 0): boolean {
    return this.isBlank(ahead) || this.isBreakOrEnd(ahead)
  }

  /** `---` or `...`, alone at the beginning of a line. */
  isDocumentIndicator(indicator?: '---' | '...'): boolean {
    if (this.column !== 0 || !this.isSpaceOrEnd(3)) return false
    const start = this.text.slice(this.at, this.at + 3)
    return indicator === undefined ? start === '---' || start === '...' : start === indicator
  }

  skip(count = 1): void {
    this.at += count
  }

  skipBlanks(): void {
    while (this.isBlank()) this.at++
  }

  skipComment(): void {
    if (this.peek() !== '#') return
    while (!this.isBreakOrEnd()) this.at++
  }

  /** Skips a line break, if there is one, and returns its text. */
  readBreak(): string {
    if (!this.isBreak()) return ''
    const code = this.text.charCodeAt(this.at)
    this.at += code === CARRIAGE_RETURN && this.text.charCodeAt(this.at + 1) === LINE_FEED ? 2 : 1
    this.line++
    this.#lineStart = this.at
    return code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR ? String.fromCharCode(code) : '\n'
  }

  /** The end of the text counts as the beginning of a line. */
  endLine(): void {
    if (this.column === 0) return
    this.line++
    this.#lineStart = this.at
  }

  /** `contextLine`: where the part begins that is wrong. */
  error(problem: string, contextLine?: number): YamlError {
    if (this.line > 0) return new YamlError(problem, this.line + 1)
    return new YamlError(problem, contextLine)
  }
}
