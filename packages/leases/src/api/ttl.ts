/** A parsed TTL: a number of milliseconds, or `forever`. */
export type Ttl =
  | { readonly ok: true; readonly milliseconds: number | 'forever' }
  /** `reason` is shown in the object's lease-status. */
  | { readonly ok: false; readonly reason: string }

const SECOND = 1_000_000_000n
const DAY = 86_400n * SECOND

/** In nanoseconds, by the unit in lower case. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  // The micro sign and the Greek letter mu look alike; users type both.
  ['\u00B5s', 1_000n],
  ['\u03BCs', 1_000n],
  ['ms', 1_000_000n],
  ['s', SECOND],
  ['m', 60n * SECOND],
  ['h', 3_600n * SECOND],
  ['d', DAY],
  ['w', 7n * DAY],
  ['mo', 30n * DAY],
  ['mth', 30n * DAY],
  ['month', 30n * DAY],
  ['y', 365n * DAY],
])

const MAX_TTL_YEARS = 290
/** In nanoseconds. Other readers of these annotations use an int64 of nanoseconds, which ends at 292 years. */
const MAX_TTL_NS = BigInt(MAX_TTL_YEARS) * 365n * DAY

/** The longest valid TTL, in milliseconds. */
export const MAX_TTL_MS = Number(MAX_TTL_NS / 1_000_000n)

/** In characters. Bounds the cost of parsing a hostile text. */
const MAX_TEXT_LENGTH = 256
/** In characters, of a text that a reason quotes. */
const MAX_QUOTE_LENGTH = 40

const GAP = /[ \t\n\r\f\v]*/y
/** `1`, `1.5` and `.5`, but not `1.`. */
const NUMBER = /(\d*)(?:\.(\d+))?/y
const WORD = /[\p{L}\p{M}]+/uy

const EXAMPLES = 'write numbers with units, such as 30m, 1h30m, 2d or 1w'

/**
 * Parses a TTL: numbers with units, one after the other (`1w2d3h`, ` 2d 4h `, `.5h`), or `forever`. Ambiguous texts are
 * refused with a reason, because a wrong guess deletes something.
 */
export function parseTtl(text: string): Ttl {
  if (text.length > MAX_TEXT_LENGTH) return refuse(`${quote(text)} is too long to be a TTL`)
  const trimmed = trim(text)
  if (trimmed === '') return refuse(`it is empty; ${EXAMPLES}`)
  if (trimmed.toLowerCase() === 'forever') return { ok: true, milliseconds: 'forever' }
  let total = 0n
  for (let position = 0; position < trimmed.length;) {
    const part = readPart(trimmed, position)
    if (typeof part === 'string') return refuse(part)
    total += part.nanoseconds
    position = skip(GAP, trimmed, part.end)
  }
  if (total > MAX_TTL_NS) return refuse(`${quote(text)} is longer than ${MAX_TTL_YEARS} years; write forever instead`)
  // Rounded up, so that the TTL is never shorter than requested.
  return { ok: true, milliseconds: Number((total + 999_999n) / 1_000_000n) }
}

interface Part {
  readonly nanoseconds: bigint
  readonly end: number
}

/** Parses one number with its unit at `position`; returns the reason if there is none. */
function readPart(text: string, position: number): Part | string {
  NUMBER.lastIndex = position
  const [number = '', whole = '', fraction = ''] = NUMBER.exec(text) ?? []
  if (whole === '' && fraction === '') return noNumber(text, position)
  const afterNumber = position + number.length
  const word = match(WORD, text, afterNumber)
  if (word === '') return noUnit(text, number, afterNumber)
  if (word === 'M') {
    return `${quote(number + word)}: a capital M is read as months by some and as minutes by others; write m for minutes or mo for months`
  }
  const unit = UNITS.get(lowerCase(word))
  if (unit === undefined) return unknownUnit(word)
  const exact = BigInt(whole || '0') * unit
  const scale = 10n ** BigInt(fraction.length)
  const part = (BigInt(fraction || '0') * unit + scale - 1n) / scale
  return { nanoseconds: exact + part, end: afterNumber + word.length }
}

function noNumber(text: string, position: number): string {
  const rest = text.slice(position)
  const [first = ''] = rest
  if (first === '+' || first === '-') {
    return position === 0
      ? `${quote(text)} begins with a sign; a TTL has none`
      : `${quote(rest)} has a sign inside; a TTL has none`
  }
  if (/\s/u.test(first)) return `it has white space other than blanks, tabs and newlines`
  return `${quote(rest)} is not a number with a unit; ${EXAMPLES}`
}

function noUnit(text: string, number: string, position: number): string {
  const after = skip(GAP, text, position)
  const word = after > position ? match(WORD, text, after) : ''
  if (word !== '') return splitUnit(number, word)
  const [next = ''] = text.slice(position)
  if (/\s/u.test(next) && after === position) return `it has white space other than blanks, tabs and newlines`
  return `${number} has no unit; ${EXAMPLES}`
}

/** The reason for a number and a unit with white space between. Suggests only what is valid: `30 minutes` is `30m`. */
function splitUnit(number: string, word: string): string {
  const spelling = `${number}${suggestionFor(word) ?? word}`
  const reading = parseTtl(spelling)
  return reading.ok ? `there is white space between ${number} and its unit; write ${spelling}` : reading.reason
}

function unknownUnit(word: string): string {
  const unit = suggestionFor(word)
  const suggestion = unit === 'm' ? 'm for minutes' : unit
  const hint = suggestion ? `; write ${suggestion}` : `; units are ns, us, ms, s, m, h, d, w, mo and y`
  return `${quote(word)} is not a unit${hint}`
}

/** The unit that a misspelled one stands for. */
function suggestionFor(word: string): string | undefined {
  const lower = lowerCase(word)
  return SUGGESTIONS.find(([pattern]) => pattern.test(lower))?.[1]
}

/** Common misspellings of units, with the unit that each stands for. */
const SUGGESTIONS: readonly (readonly [RegExp, string])[] = [
  [/^sec(ond)?s?$/, 's'],
  [/^min(ute)?s?$/, 'm'],
  [/^(hr|hour)s?$/, 'h'],
  [/^days?$/, 'd'],
  [/^(wk|week)s?$/, 'w'],
  [/^(mos|mths|mon|months)$/, 'mo'],
  [/^(yr|year)s?$/, 'y'],
]

/** Formats milliseconds so that `parseTtl` returns the same value: `1w2d3h`, `500ms`, `0s`, `forever`. */
export function formatTtl(milliseconds: number | 'forever'): string {
  if (milliseconds === 'forever') return 'forever'
  let left = Math.ceil(Math.max(milliseconds, 0))
  if (left === 0) return '0s'
  let text = ''
  for (const [unit, size] of PRINTED_UNITS) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) text += `${count}${unit}`
  }
  return text
}

/** Without months and years, whose length depends on the reader. */
const PRINTED_UNITS: readonly (readonly [string, number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]

/** Converts ASCII letters only: a Unicode look-alike is not a unit. */
function lowerCase(word: string): string {
  return word.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function trim(text: string): string {
  return text.replace(/^[ \t\n\r\f\v]+/, '').replace(/[ \t\n\r\f\v]+$/, '')
}

function skip(pattern: RegExp, text: string, position: number): number {
  return position + match(pattern, text, position).length
}

function match(pattern: RegExp, text: string, position: number): string {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0] ?? ''
}

function quote(text: string): string {
  const characters = Array.from(text)
  return JSON.stringify(
    characters.length > MAX_QUOTE_LENGTH ? `${characters.slice(0, MAX_QUOTE_LENGTH).join('')}…` : text,
  )
}

function refuse(reason: string): Ttl {
  return { ok: false, reason }
}
