type Environment = Readonly<Record<string, string | undefined>>

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

export type Style = keyof typeof CODES

/** The place where a command writes its results. */
export interface Terminal {
  /** False: a pipe or a file. */
  readonly isTerminal: boolean
  readonly columns: number
  readonly rows: number
  /** A text in a style; unchanged where colours are not wanted. */
  paint(style: Style, text: string): string
}

/** The size of a terminal whose size is unknown, and of output that is not a terminal. */
const DEFAULT_COLUMNS = 80
const DEFAULT_ROWS = 24

interface OutputStream {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/** The terminal of a stream. Colours only on a terminal, and never with NO_COLOR or TERM=dumb. */
export function terminalOf(stream: OutputStream, { NO_COLOR, TERM }: Environment): Terminal {
  const isTerminal = stream.isTTY === true
  const isColored = isTerminal && !NO_COLOR && TERM !== 'dumb'
  return {
    isTerminal,
    // A window may be resized.
    get columns() {
      return (isTerminal && stream.columns) || DEFAULT_COLUMNS
    },
    get rows() {
      return (isTerminal && stream.rows) || DEFAULT_ROWS
    },
    paint: (style, text) => (isColored && text !== '' ? `\u001B[${CODES[style]}m${text}\u001B[0m` : text),
  }
}

/** Characters that are drawn in two columns. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303F\uFF00-\uFF60]/u
const NARROW = /^[\u0020-\u007E]*$/

/** The columns that a text without control characters takes. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOf(character)
  return width
}

/** A text on one line of at most `columns` columns: a longer one ends with `…`. */
export function fitText(text: string, columns: number): string {
  // Texts come from annotations and servers: control characters must not reach the terminal.
  const line = text.replaceAll(/\p{Cc}+/gu, ' ').trimEnd()
  if (displayWidth(line) <= columns) return line
  let width = 0
  let fitting = ''
  for (const character of line) {
    width += widthOf(character)
    if (width > columns - 1) break
    fitting += character
  }
  return columns < 1 ? '' : `${fitting}…`
}

function widthOf(character: string): number {
  if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
