/** Numbers as the verbs of fmt print them. */
import { formatFloat } from './floats.ts'
import type { FloatFormat } from './floats.ts'
import { pad } from './flags.ts'
import type { FormatFlags } from './flags.ts'
import { isPrintable, quoteCharacter } from './quote.ts'

const MAX_POINT = 0x10_ffffn

/** Undefined if an integer has no such verb. */
export function formatInteger(value: bigint, isSigned: boolean, verb: string, flags: FormatFlags): string | undefined {
  switch (verb) {
    case 'v':
      return flags.sharpV && !isSigned ? hexAddress(value, flags, true) : integer(value, 10, verb, flags)
    case 'd':
      return integer(value, 10, verb, flags)
    case 'b':
      return integer(value, 2, verb, flags)
    case 'o':
    case 'O':
      return integer(value, 8, verb, flags)
    case 'x':
    case 'X':
      return integer(value, 16, verb, flags)
    case 'c':
      return pad(flags, character(value))
    case 'q':
      return pad(flags, quoteCharacter(Number(codeOf(value)), flags.plus))
    case 'U':
      return unicode(value, flags)
    default:
      return undefined
  }
}

export function hexAddress(value: bigint, flags: FormatFlags, isPrefixed: boolean): string {
  const { sharp } = flags
  flags.sharp = isPrefixed
  const text = integer(value, 16, 'v', flags)
  flags.sharp = sharp
  return text
}

/** The code of a character; negative numbers wrap around as unsigned ones and so are too large. */
function codeOf(value: bigint): bigint {
  return value < 0n || value > MAX_POINT ? 0xfffdn : value
}

function character(value: bigint): string {
  const code = codeOf(value)
  return String.fromCodePoint(Number(code >= 0xd800n && code <= 0xdfffn ? 0xfffdn : code))
}

function integer(value: bigint, base: 2 | 8 | 10 | 16, verb: string, flags: FormatFlags): string {
  const isNegative = value < 0n
  let minDigits = 0
  if (flags.precision !== undefined) {
    if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0)
    minDigits = flags.precision
  } else if (flags.zero && !flags.minus && flags.width !== undefined) {
    minDigits = flags.width - (isNegative || flags.plus || flags.space ? 1 : 0)
  }
  let digits = (isNegative ? -value : value).toString(base).padStart(minDigits, '0')
  if (verb === 'X') digits = digits.toUpperCase()
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`
    else if (base === 16) digits = (verb === 'X' ? '0X' : '0x') + digits
    else if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`
  }
  if (verb === 'O') digits = `0o${digits}`
  return pad(flags, (isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '') + digits, false)
}

function unicode(value: bigint, flags: FormatFlags): string {
  const unsigned = BigInt.asUintN(64, value)
  const digits = unsigned
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(flags.precision ?? 4, 4), '0')
  const isShown = flags.sharp && unsigned <= MAX_POINT && isPrintable(Number(unsigned))
  return pad(flags, `U+${digits}${isShown ? ` '${String.fromCodePoint(Number(unsigned))}'` : ''}`, false)
}

/** Undefined if a float has no such verb. */
export function formatNumber(value: number, verb: string, flags: FormatFlags): string | undefined {
  switch (verb) {
    case 'v':
      return float(value, 'g', -1, flags)
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X':
      return float(value, verb, -1, flags)
    case 'f':
    case 'e':
    case 'E':
      return float(value, verb, 6, flags)
    case 'F':
      return float(value, 'f', 6, flags)
    default:
      return undefined
  }
}

function float(value: number, format: FloatFormat, defaultPrecision: number, flags: FormatFlags): string {
  const precision = flags.precision ?? defaultPrecision
  const text = formatFloat(value, format, precision)
  const isNegative = text.startsWith('-')
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : ''
  let digits = text.replace(/^[-+]/, '')
  if (digits === 'NaN' || digits === 'Inf') {
    // The sign of infinity is part of its text.
    const infinite = digits === 'Inf' && sign === '' ? '+' : sign
    return pad(flags, infinite + digits, false)
  }
  if (flags.sharp && format !== 'b') digits = withPoint(digits, format, precision)
  if (sign !== '' && flags.zero && !flags.minus && flags.width !== undefined && flags.width > digits.length + 1) {
    return sign + digits.padStart(flags.width - 1, '0')
  }
  return pad(flags, sign + digits)
}

/** The `#` flag keeps the point and, for `%g`, the zeros at the end. */
function withPoint(digits: string, format: FloatFormat, precision: number): string {
  const isHex = format === 'x' || format === 'X'
  const split = digits.search(isHex ? /p/i : /[ep]/i)
  let mantissa = split < 0 ? digits : digits.slice(0, split)
  const tail = split < 0 ? '' : digits.slice(split)
  let missing = format === 'g' || format === 'G' || format === 'x' ? (precision === -1 ? 6 : precision) : 0
  let hasSeenNonzero = false
  for (const digit of mantissa) {
    if (digit === '.') continue
    if (digit !== '0') hasSeenNonzero = true
    if (hasSeenNonzero) missing--
  }
  if (!mantissa.includes('.')) {
    if (mantissa === '0') missing--
    mantissa += '.'
  }
  return mantissa + '0'.repeat(Math.max(missing, 0)) + tail
}
