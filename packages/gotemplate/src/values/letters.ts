/** Letters and their case, one code point at a time, as in Go's package unicode. */

/** Go's white space, as the inside of a character class. */
export const SPACES = '\\t\\n\\v\\f\\r \\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000'

const SPACE = new RegExp(`^[${SPACES}]$`)
const LEADING = new RegExp(`^[${SPACES}]+`)
const TRAILING = new RegExp(`[${SPACES}]+$`)
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7F]*$/

export const isSpace = (character: string): boolean => SPACE.test(character)
export const isLetter = (character: string): boolean => /^\p{L}$/u.test(character)
export const isUpper = (character: string): boolean => /^\p{Lu}$/u.test(character)
export const isLower = (character: string): boolean => /^\p{Ll}$/u.test(character)
export const isTitle = (character: string): boolean => /^\p{Lt}$/u.test(character)
export const isDigit = (character: string): boolean => /^\p{Nd}$/u.test(character)
export const isNumber = (character: string): boolean => /^\p{N}$/u.test(character)
export const isPunctuation = (character: string): boolean => /^\p{P}$/u.test(character)

export function trimSpace(text: string): string {
  return text.replace(LEADING, '').replace(TRAILING, '')
}

/** Only mappings to one code point count; `ß` has none. */
const single = (mapped: string, original: string): string => (Array.from(mapped).length === 1 ? mapped : original)

/** Letters whose simple mapping differs from the first choice of ECMAScript. */
export function upperCharacter(character: string): string {
  return single(character.toUpperCase(), character)
}

export function lowerCharacter(character: string): string {
  return character === '\u0130' ? 'i' : single(character.toLowerCase(), character)
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ...['\u01C4', '\u01C5', '\u01C6'].map((letter) => [letter, '\u01C5'] as const),
  ...['\u01C7', '\u01C8', '\u01C9'].map((letter) => [letter, '\u01C8'] as const),
  ...['\u01CA', '\u01CB', '\u01CC'].map((letter) => [letter, '\u01CB'] as const),
  ...['\u01F1', '\u01F2', '\u01F3'].map((letter) => [letter, '\u01F2'] as const),
])

export const titleCharacter = (character: string): string => TITLES.get(character) ?? upperCharacter(character)

export function toUpper(text: string): string {
  return ASCII.test(text) ? text.toUpperCase() : Array.from(text, upperCharacter).join('')
}

export function toLower(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : Array.from(text, lowerCharacter).join('')
}
