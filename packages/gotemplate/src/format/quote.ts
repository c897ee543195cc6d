/** Go's quoted strings. */
import { goEscape, goQuote, goQuoteAscii, isPrintable } from '@tenure/yaml'

import { codePoints, isInvalidByte, normalize } from '../values/bytes.ts'

export { isPrintable }

/** A string in double quotes, as `%q` prints it. With `isAsciiOnly` as `%+q` does. */
export const quote = (text: string, isAsciiOnly = false): string =>
  isAsciiOnly ? goQuoteAscii(normalize(text)) : goQuote(normalize(text))

/** A character in single quotes, as `%q` prints an integer. */
export function quoteCharacter(point: number, isAsciiOnly = false): string {
  const isValid = point >= 0 && point <= 0x10_ffff && !(point >= 0xd800 && point <= 0xdfff)
  return `'${goEscape(isValid ? point : 0xfffd, "'", isAsciiOnly)}'`
}

/** Whether the text can be written between backquotes on one line. */
export function canBackquote(text: string): boolean {
  return codePoints(text).every(
    (point) =>
      !isInvalidByte(point) && point !== 0xfeff && (point >= 0x20 || point === 9) && point !== 0x60 && point !== 0x7f,
  )
}
