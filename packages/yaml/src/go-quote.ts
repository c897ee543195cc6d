/** Strings as Go's `%q` prints them. */

const NAMED: ReadonlyMap<number, string> = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [9, '\\t'],
  [10, '\\n'],
  [11, '\\v'],
  [12, '\\f'],
  [13, '\\r'],
  [92, '\\\\'],
])
const PLAIN = /^[ !#-[\]-~]*$/
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** Whether Go prints the character as it is. */
export const isPrintable = (code: number): boolean => PRINTABLE.test(String.fromCodePoint(code))

/** A string in double quotes. */
export const goQuote = (text: string): string => quoted(text, false)

/** A string in double quotes with only ASCII characters, as `%+q` prints it. */
export const goQuoteAscii = (text: string): string => quoted(text, true)

function quoted(text: string, isAsciiOnly: boolean): string {
  if (PLAIN.test(text)) return `"${text}"`
  let result = '"'
  for (const character of text) result += goEscape(character.codePointAt(0) ?? 0, '"', isAsciiOnly)
  return `${result}"`
}

/** A character inside of quotes. A lone surrogate from U+DC80 to U+DCFF stands for a byte that is not UTF-8. */
export function goEscape(code: number, quote: '"' | "'", isAsciiOnly: boolean): string {
  if (code >= 0xdc_80 && code <= 0xdc_ff) return `\\x${hex(code - 0xdc_00, 2)}`
  if (code === quote.charCodeAt(0)) return `\\${quote}`
  const named = NAMED.get(code)
  if (named !== undefined) return named
  if (isAsciiOnly ? code >= 0x20 && code < 0x7f : isPrintable(code)) return String.fromCodePoint(code)
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  return code < 0x1_00_00 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
