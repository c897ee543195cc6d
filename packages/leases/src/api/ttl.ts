/** How long something may live: a number of milliseconds, or for good. */
export type Ttl =
  | { readonly ok: true; readonly milliseconds: number | 'forever' }
  /** `reason` is for a person: it stands in the object's status. */
  | { readonly ok: false; readonly reason: string }

const SECOND = 1_000_000_000n
const DAY = 86_400n * SECOND

/** In nanoseconds, by the unit in lower case. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  // The micro sign and the Greek letter look alike; people type both.
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

const LONGEST_YEARS = 290
/** Beyond it lies what other readers of these annotations can not hold: an int64 of nanoseconds ends at 292 years. */
const LONGEST = BigInt(LONGEST_YEARS) * 365n * DAY

/** The longest TTL there is, in milliseconds. */
export const LONGEST_TTL = Number(LONGEST / 1_000_000n)

/** Longer texts can only be mistakes; the bound keeps a hostile one from costing anything. */
const LONGEST_TEXT = 256
/** What is quoted of a text in a reason. */
const LONGEST_QUOTE = 40

const GAP = /[ \t\n\r\f\v]*/y
/** `1`, `1.5` and `.5`; a point with nothing after it is none. */
const NUMBER = /(\d*)(?:\.(\d+))?/y
const WORD = /[\p{L}\p{M}]+/uy

const EXAMPLES = 'write numbers with units, such as 30m, 1h30m, 2d or 1w'

/**
 * Reads a TTL: numbers with units, one after the other (`1w2d3h`, ` 2d 4h `, `.5h`), or `forever`. Strict: what can be
 * read in two ways is refused with a reason instead of guessed at, because a wrong guess deletes something.
 */
export function parseTtl(text: string): Ttl {
  if (text.length > LONGEST_TEXT) return refuse(`${quote(text)} is too long to be a TTL`)
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
  if (total > LONGEST) return refuse(`${quote(text)} is longer than ${LONGEST_YEARS} years; write forever instead`)
  // Never shorter than asked for: what is finer than a millisecond is rounded up.
  return { ok: true, milliseconds: Number((total + 999_999n) / 1_000_000n) }
}

interface Part {
  readonly nanoseconds: bigint
  readonly end: number
}

/** One number with its unit, or why there is none at `position`. */
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
  // Rounded up, as the whole is: never shorter than asked for.
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
  if (after > position && match(WORD, text, after) !== '') {
    return `there is white space between ${number} and its unit; write ${number}${match(WORD, text, after)}`
  }
  const [next = ''] = text.slice(position)
  if (/\s/u.test(next) && after === position) return `it has white space other than blanks, tabs and newlines`
  return `${number} has no unit; ${EXAMPLES}`
}

function unknownUnit(word: string): string {
  const lower = lowerCase(word)
  const meant = MEANT.find(([pattern]) => pattern.test(lower))?.[1]
  const hint = meant ? `; write ${meant}` : `; units are ns, us, ms, s, m, h, d, w, mo and y`
  return `${quote(word)} is not a unit${hint}`
}

/** What people write who mean one of the units. */
const MEANT: readonly (readonly [RegExp, string])[] = [
  [/^sec(ond)?s?$/, 's'],
  [/^min(ute)?s?$/, 'm for minutes'],
  [/^(hr|hour)s?$/, 'h'],
  [/^days?$/, 'd'],
  [/^(wk|week)s?$/, 'w'],
  [/^(mos|mths|mon|months)$/, 'mo'],
  [/^(yr|year)s?$/, 'y'],
]

/** Prints milliseconds so that `parseTtl` reads the same back: `1w2d3h`, `500ms`, `0s`, `forever`. */
export function formatTtl(milliseconds: number | 'forever'): string {
  if (milliseconds === 'forever') return 'forever'
  let left = Math.ceil(Math.max(milliseconds, 0))
  if (left === 0) return '0s'
  let text = ''
  for (const [unit, size] of PRINTED) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) text += `${count}${unit}`
  }
  return text
}

/** Months and years are left out: a week of days says the same to everybody. */
const PRINTED: readonly (readonly [string, number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]

/** Of ASCII letters only: what merely looks like a unit is none. */
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
  return JSON.stringify(characters.length > LONGEST_QUOTE ? `${characters.slice(0, LONGEST_QUOTE).join('')}…` : text)
}

function refuse(reason: string): Ttl {
  return { ok: false, reason }
}
