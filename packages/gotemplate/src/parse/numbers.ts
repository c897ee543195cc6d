/** Number constants in every spelling of Go. */
import { quote } from '../format/quote.ts'
import { readCharacter } from './unquote.ts'

export interface NumberConstant {
  readonly text: string
  readonly int?: bigint
  readonly uint?: bigint
  readonly float?: number
  readonly complex?: readonly [real: number, imaginary: number]
}

const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)
const MAX_UINT = 2n ** 64n - 1n

/** Throws an Error with Go's words. */
export function parseNumber(text: string, type: 'character' | 'complex' | 'number'): NumberConstant {
  if (type === 'character') return characterConstant(text)
  if (type === 'complex') return complexConstant(text)
  if (text.endsWith('i')) {
    const imaginary = parseFloat64(text.slice(0, -1))
    if (imaginary !== undefined) return fromComplex(text, 0, imaginary)
  }
  const whole = parseInteger(text)
  const int = whole !== undefined && whole >= MIN_INT && whole <= MAX_INT ? whole : undefined
  const isUnsigned = whole !== undefined && whole >= 0n && whole <= MAX_UINT && (!/^[-+]/.test(text) || whole === 0n)
  const uint = isUnsigned ? whole : undefined
  if (int !== undefined || uint !== undefined) {
    return { text, ...(int !== undefined && { int }), ...(uint !== undefined && { uint }), float: Number(int ?? uint) }
  }
  const float = parseFloat64(text)
  if (float === undefined) throw new Error(`illegal number syntax: ${quote(text)}`)
  if (!/[.eEpP]/.test(text)) throw new Error(`integer overflow: ${quote(text)}`)
  return { text, float, ...integersOf(float) }
}

function integersOf(float: number): { readonly int?: bigint; readonly uint?: bigint } {
  if (!Number.isInteger(float)) return {}
  const value = BigInt(float)
  return {
    ...(value >= MIN_INT && value <= MAX_INT && { int: value }),
    ...(value >= 0n && value <= MAX_UINT && { uint: value }),
  }
}

function characterConstant(text: string): NumberConstant {
  const character = readCharacter(text, 1, "'")
  if (!character) throw new Error('invalid syntax')
  if (character.end !== text.length - 1) throw new Error(`malformed character constant: ${text}`)
  const value = BigInt(character.code)
  return { text, int: value, uint: value, float: character.code }
}

function complexConstant(text: string): NumberConstant {
  const { real, imaginary } = /^(?<real>.*[^eEpP])(?<imaginary>[-+].+)i$/.exec(text)?.groups ?? {}
  const parts = [real, imaginary].map((part) => (part === undefined ? undefined : parseFloat64(part)))
  const [first, second] = parts
  if (first === undefined || second === undefined) throw new Error('syntax error scanning complex number')
  return fromComplex(text, first, second)
}

function fromComplex(text: string, real: number, imaginary: number): NumberConstant {
  const complex = [real, imaginary] as const
  return imaginary === 0 ? { text, complex, float: real, ...integersOf(real) } : { text, complex }
}

/** Underscores stand between digits, or between a prefix and a digit. */
const hasGoodUnderscores = (digits: string, hasPrefix: boolean): boolean =>
  !digits.includes('_') || (!/__|_$/.test(digits) && (hasPrefix || !digits.startsWith('_')))

/** An integer of any size with an optional sign; base 0 of strconv. Undefined if it is malformed. */
export function parseInteger(text: string): bigint | undefined {
  const { sign, prefix, digits } =
    /^(?<sign>[-+]?)(?<prefix>0[xXbBoO]?)?(?<digits>[\da-fA-F_]*)$/.exec(text)?.groups ?? {}
  if (digits === undefined) return undefined
  const isBare = prefix === undefined || prefix === ''
  if (isBare ? digits === '' : prefix.length === 2 && digits === '') return undefined
  if (!hasGoodUnderscores(digits, !isBare)) return undefined
  const plain = digits.replaceAll('_', '')
  if (!isBare && plain === '') return 0n
  const base = isBare ? '' : prefix.length === 1 ? '0o' : prefix.toLowerCase()
  const allowed = { '': /^\d+$/, '0x': /^[\da-fA-F]+$/, '0o': /^[0-7]+$/, '0b': /^[01]+$/ }[base]
  if (!allowed?.test(plain)) return undefined
  const size = BigInt(base + plain)
  return sign === '-' ? -size : size
}

const DECIMAL = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/
const HEX = /^(?<sign>[-+]?)0[xX](?<whole>[\da-fA-F]*)\.?(?<fraction>[\da-fA-F]*)[pP](?<power>[-+]?\d+)$/

/** As strconv.ParseFloat reads it; undefined if it is malformed or too large. */
export function parseFloat64(text: string): number | undefined {
  let plain = text
  if (text.includes('_')) {
    // An underscore stands between two digits, or between a prefix and a digit.
    const digits = /^[-+]?0[xX]/.test(text) ? text.replace(/^[-+]?0[xX]/, '0') : text
    const isHex = digits !== text
    if ((isHex ? /(?<![\da-fA-F])_|_(?![\da-fA-F])/ : /(?<!\d)_|_(?!\d)/).test(digits)) return undefined
    plain = text.replaceAll('_', '')
  }
  if (DECIMAL.test(plain)) {
    const value = Number(plain)
    return Number.isFinite(value) ? value : undefined
  }
  const special = /^(?<sign>[-+]?)(?:(?<inf>inf(?:inity)?)|(?<nan>nan))$/i.exec(plain)?.groups
  if (special) {
    if (special['nan'] !== undefined) return special['sign'] === '' ? NaN : undefined
    return special['sign'] === '-' ? -Infinity : Infinity
  }
  const { sign, whole = '', fraction = '', power = '0' } = HEX.exec(plain)?.groups ?? {}
  if (sign === undefined || whole + fraction === '') return undefined
  const mantissa = BigInt(`0x${whole}${fraction}`)
  const value = Number(mantissa) * 2 ** (Number(power) - 4 * fraction.length)
  if (!Number.isFinite(value)) return undefined
  return sign === '-' ? -value : value
}
