/** Strings in each of YAML's styles. */
import type { ScalarStyle } from './scalar-style.ts'

/** Where a scalar is written. */
export interface TextPlace {
  /** The column of its first character. */
  readonly column: number
  /** The indentation of its other lines. */
  readonly indent: number
  /** A line that is longer is broken at the next space. */
  readonly width: number
}

/** The digit that tells readers the indentation of a literal whose first line begins with a space. */
const LITERAL_INDENT = '2'

/** Stands at the end of a literal that ends with an unusual break, after which no other one is written. */
export const NO_BREAK = '\0'

/** Returns the text without a break at its end. */
export function scalarText(text: string, style: ScalarStyle, place: TextPlace): string {
  switch (style) {
    case 'plain':
      return fold(text, SINGLE_SPACE, place)
    case 'single-quoted':
      return `'${fold(text.replaceAll("'", "''"), SINGLE_SPACE, inside(place))}'`
    case 'double-quoted':
      return `"${doubleQuoted(text, inside(place))}"`
    default:
      return literal(text, place)
  }
}

const inside = ({ column, ...place }: TextPlace): TextPlace => ({ ...place, column: column + 1 })

const SINGLE_SPACE = /(?<=[^ ]) (?=[^ ])/
const FIRST_SPACE = /(?<=[^ ]) (?=.)/s
const LAST_BREAK = /[\u2028\u2029](?=[^\u2028\u2029]*$)/
const UNUSUAL_BREAKS = /[\u2028\u2029]+(?=[^\u2028\u2029])/g

/** Breaks long lines at the spaces that the pattern finds. Unusual line breaks stay, and are followed by indentation. */
function fold(text: string, spaces: RegExp, { column, indent, width }: TextPlace): string {
  if (column + text.length <= width && !LAST_BREAK.test(text)) return text
  const padding = ' '.repeat(indent)
  const [first = '', ...rest] = text.replaceAll(UNUSUAL_BREAKS, `$&${padding}`).split(spaces)
  let out = first
  let end = endColumn(first, column)
  for (const words of rest) {
    const isFull = end > width
    // Readers drop spaces at the start of a line, unless a backslash precedes them.
    const part = isFull && words.startsWith(' ') ? `\\${words}` : words
    out += (isFull ? `\n${padding}` : ' ') + part
    end = endColumn(part, isFull ? indent : end + 1)
  }
  return out
}

function endColumn(text: string, start: number): number {
  const lastBreak = text.search(LAST_BREAK)
  return lastBreak === -1 ? start + text.length : text.length - lastBreak - 1
}

function doubleQuoted(text: string, place: TextPlace): string {
  // Kubernetes' library escapes all characters of a text that begins with a byte order mark.
  if (text.startsWith('\uFEFF')) return Array.from(text, escapeOf).join('')
  return fold(text.replaceAll(ESCAPED, escapeOf), FIRST_SPACE, place)
}

const escapeOf = (character: string): string => ESCAPES.get(character) ?? codeOf(character)

const ESCAPED = /["\\\p{Cc}\u2028\u2029\uFEFF\uFFFE\uFFFF\u{10000}-\u{10FFFF}]/gu

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\u001B', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0085', '\\N'],
  ['\u00A0', '\\_'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
])

function codeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}

/** Empty lines are not indented. */
const LINE_START = /^(?=[^\n\u2028\u2029])/gm
const BEGINS_WITH_SPACE = /^[ \n\u2028\u2029]/
const ENDS_WITH_BREAK = /[\n\u2028\u2029]$/
const ENDS_WITH_EMPTY_LINE = /(?:^|[\n\u2028\u2029])[\n\u2028\u2029]$/

function literal(text: string, { indent }: TextPlace): string {
  const digit = BEGINS_WITH_SPACE.test(text) ? LITERAL_INDENT : ''
  const breaksAtEnd = ENDS_WITH_EMPTY_LINE.test(text) ? '+' : ENDS_WITH_BREAK.test(text) ? '' : '-'
  const lines = text.replaceAll(LINE_START, ' '.repeat(indent))
  const end = text.endsWith('\n') ? lines.slice(0, -1) : ENDS_WITH_BREAK.test(text) ? lines + NO_BREAK : lines
  return `|${digit}${breaksAtEnd}\n${end}`
}
