/** The flags of one verb of a format string, and what needs only them. */
import { codePoints } from '../values/bytes.ts'

export class FormatFlags {
  width: number | undefined
  precision: number | undefined
  minus = false
  plus = false
  sharp = false
  space = false
  zero = false
  /** `%+v` */
  plusV = false
  /** `%#v` */
  sharpV = false
}

/** Adds padding up to the width. */
export function pad(flags: FormatFlags, text: string, isZeroAllowed = true): string {
  if (!flags.width) return text
  const missing = flags.width - codePoints(text).length
  if (missing <= 0) return text
  if (flags.minus) return text + ' '.repeat(missing)
  return (flags.zero && isZeroAllowed ? '0' : ' ').repeat(missing) + text
}

/** Cuts the text to the precision, in characters. */
export function truncate(flags: FormatFlags, text: string): string {
  if (flags.precision === undefined) return text
  const points = codePoints(text)
  return points.length <= flags.precision ? text : String.fromCodePoint(...points.slice(0, flags.precision))
}
