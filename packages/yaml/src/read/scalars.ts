/**
 * The value of a scalar as kube-apiserver reads it: `yes` is true, 0777 is octal and 1_000 a number; dates and base-60
 * numbers are text.
 */
import { STANDARD_TAG } from './document.ts'
import type { YamlScalar } from './document.ts'

/** An integer is a bigint and any other number a number, because they are different keys. */
export type ScalarValue = string | bigint | number | boolean | null

const WORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ...spellings(['y', 'yes', 'true', 'on'], true),
  ...spellings(['n', 'no', 'false', 'off'], false),
  ...spellings(['null'], null),
  ['', null],
  ['~', null],
  ...spellings(['.inf', '+.inf'], Infinity),
  ...spellings(['-.inf'], -Infinity),
  ['.nan', NaN],
  ['.NaN', NaN],
  ['.NAN', NaN],
])

function spellings(words: readonly string[], value: ScalarValue): readonly (readonly [string, ScalarValue])[] {
  return words.flatMap((word) =>
    [word, word.replace(/[a-z]/, (letter) => letter.toUpperCase()), word.toUpperCase()].map(
      (spelt) => [spelt, value] as const,
    ),
  )
}

/** Throws an Error if the text does not fit its tag. */
export function scalarValue({ text, tag, isPlain }: YamlScalar): ScalarValue {
  if (tag === '') return isPlain ? plainValue(text) : text
  switch (tag.startsWith(STANDARD_TAG) ? tag.slice(STANDARD_TAG.length) : undefined) {
    case 'binary':
      return binaryText(text)
    case 'bool':
    case 'int':
    case 'null':
      return tagged(plainValue(text), text, tag)
    case 'float': {
      const value = plainValue(text)
      return typeof value === 'bigint' ? Number(value) : tagged(value, text, tag)
    }
    case 'timestamp':
      if (isTimestamp(text)) return text
      throw mistagged(plainValue(text), text, tag)
    default:
      return text
  }
}

const WHOLE = /^(?<sign>[-+]?)(?<digits>0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9]\d*)$/
const SMALL = /^[1-9]\d{0,14}$/
const FRACTION = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
/** Longer numbers overflow whatever their base, and take long to convert. Leading zeros do not count. */
const MAX_DIGITS = 64
const MIN_SIGNED = -(2n ** 63n)
const MAX_UNSIGNED = 2n ** 64n

/** The value in JSON, which has no whole numbers of its own. */
export function jsonNumber(text: string): number | undefined {
  return SMALL.test(text) ? Number(text) : undefined
}

export function plainValue(text: string): ScalarValue {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (!/^[-+.\d]/.test(text)) return text
  // Underscores may separate digits, and may be anywhere unless the text begins with a point.
  if (text.startsWith('.') && /_(?!\d)|(?<!\d)_/.test(text)) return text
  const plain = text.replaceAll('_', '')
  const whole = wholeNumber(plain)
  if (whole !== undefined) return whole
  // A number that overflows is text.
  return FRACTION.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : text
}

function wholeNumber(text: string): bigint | undefined {
  if (SMALL.test(text)) return BigInt(text)
  const { sign, digits } = WHOLE.exec(text)?.groups ?? {}
  if (digits === undefined || digits.replace(/^0[xXoObB]?0*/, '').length > MAX_DIGITS) return undefined
  const size = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase())
  const value = sign === '-' ? -size : size
  // Unsigned numbers may be twice as large.
  return value >= MIN_SIGNED && value < (sign === '' ? MAX_UNSIGNED : -MIN_SIGNED) ? value : undefined
}

function binaryText(text: string): string {
  const digits = text.replaceAll(/[\r\n]/g, '')
  const bytes = Buffer.from(digits, 'base64')
  if (bytes.toString('base64') !== digits) throw new Error('yaml: !!binary value contains invalid base64 data')
  return bytes.toString()
}

const TIMESTAMP =
  /^(?<date>\d{4}-\d\d?-\d\d?)(?:(?:[Tt]\d\d?:\d\d?:\d\d?(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))|(?: \d\d?:\d\d?:\d\d?(?:\.\d+)?))?$/

export function isTimestamp(text: string): boolean {
  const [year = 0, month = 0, day = 0] = TIMESTAMP.exec(text)?.groups?.['date']?.split('-').map(Number) ?? []
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function tagged(value: ScalarValue, text: string, tag: string): ScalarValue {
  if (tag === STANDARD_TAG + tagOf(value)) return value
  throw mistagged(value, text, tag)
}

const mistagged = (value: ScalarValue, text: string, tag: string): Error =>
  new Error(`yaml: cannot decode !!${tagOf(value)} \`${text}\` as a !!${tag.slice(STANDARD_TAG.length)}`)

function tagOf(value: ScalarValue): string {
  switch (typeof value) {
    case 'bigint':
      return 'int'
    case 'number':
      return 'float'
    case 'boolean':
      return 'bool'
    default:
      return value === null ? 'null' : 'str'
  }
}
