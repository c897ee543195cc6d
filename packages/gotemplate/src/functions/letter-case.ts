/** sprig's functions that change the case of letters. */
import { normalize } from '../values/bytes.ts'
import {
  isLower,
  isSpace,
  isTitle,
  isUpper,
  lowerCharacter,
  SPACES,
  titleCharacter,
  upperCharacter,
} from '../values/letters.ts'
import type { GoFunction } from '../values/go-function.ts'
import { fn } from './define.ts'

/** Maps each character with the one before it. A space stands before the first. */
function mapWithPrevious(text: string, map: (character: string, previous: string) => string): string {
  const characters = Array.from(normalize(text))
  return characters.map((character, index) => map(character, characters[index - 1] ?? ' ')).join('')
}

/** ASCII besides letters, digits and underscores separates words, and so does white space. */
// oxlint-disable-next-line no-control-regex
const SEPARATOR = new RegExp(`^(?:(?!\\w)[\\0-\\x7F]|[${SPACES}])$`)

const title = (text: string): string =>
  mapWithPrevious(text, (character, previous) => (SEPARATOR.test(previous) ? titleCharacter(character) : character))

const untitle = (text: string): string =>
  mapWithPrevious(text, (character, previous) => (isSpace(previous) ? lowerCharacter(character) : character))

const swapCase = (text: string): string =>
  mapWithPrevious(text, (character, previous) => {
    if (isUpper(character) || isTitle(character)) return lowerCharacter(character)
    if (!isLower(character)) return character
    return isSpace(previous) ? titleCharacter(character) : upperCharacter(character)
  })

// The insides of character classes.
const CONNECTORS = `\\-_${SPACES}`
const CHINESE = '\\u4E00-\\u9FCC\\u3400-\\u4D85\\u{20000}-\\u{2B81D}'
/** Letters inside of a word: a capital begins a word, a Chinese character is a word of its own kind. */
const INNER = `[\\p{L}--[\\p{Lu}${CHINESE}]]`

const lowerCapitals = (text: string): string => text.replaceAll(/\p{Lu}/gu, lowerCharacter)

const LEADING_CONNECTORS = new RegExp(`^[${CONNECTORS}]*`, 'u')
/** Connectors, then the first character of a word and the capitals behind it. */
const WORD_START = new RegExp(`(^|[${CONNECTORS}]+)([^${CONNECTORS}]?)(\\p{Lu}*)`, 'gu')

function pascalCase(text: string): string {
  const normal = normalize(text)
  const [leading = ''] = LEADING_CONNECTORS.exec(normal) ?? []
  // A text of connectors only gets its last one twice.
  if (leading === normal) return normal + normal.slice(-1)
  const words = normal.slice(leading.length)
  const joined = words.replaceAll(WORD_START, (all, gap: string, first: string, capitals: string) => {
    if (first === '') return all
    // Of several connectors one is removed.
    return gap.slice(0, -1) + upperCharacter(first) + (isUpper(first) ? lowerCapitals(capitals) : capitals)
  })
  return leading + joined
}

/** Capitals; the last of several begins the next word if small letters follow. */
const CAPITALIZED = `\\p{Lu}${INNER}+|\\p{Lu}+(?=\\p{Lu}${INNER})|\\p{Lu}+`
const OTHERS = `[^\\p{L}\\p{N}\\p{P}${CONNECTORS}]|[${CHINESE}]`
/** A number belongs to the small letters behind it, otherwise to the word before it. */
const NUMBER_AT_END = `\\p{N}+(?![\\p{N}${INNER}])`
const NUMBER_AT_START = `\\p{N}[\\p{N}${INNER}]*`
const WORD_OR_GAP = new RegExp(
  [
    `(?<connectors>[${CONNECTORS}]+)`,
    `(?<punctuation>\\p{P}+)`,
    `(?:${CAPITALIZED}|${INNER}+|(?:${OTHERS})+)(?:${NUMBER_AT_END})?`,
    NUMBER_AT_START,
  ].join('|'),
  'gv',
)

/** Small words with a connector between them. */
function separated(text: string, connector: string): string {
  let isAfterWord = false
  return normalize(text).replaceAll(WORD_OR_GAP, (part: string, ...rest: readonly unknown[]) => {
    const { connectors, punctuation } = rest.at(-1) as { connectors?: string; punctuation?: string }
    const isWord = connectors === undefined && punctuation === undefined
    const needsConnector = isWord && isAfterWord
    isAfterWord = isWord
    if (connectors !== undefined) return connector.repeat(Array.from(connectors).length)
    return (needsConnector ? connector : '') + lowerCapitals(part)
  })
}

export const letterCaseFunctions: readonly GoFunction[] = [
  fn('title', ['string'], ([text]) => title(text)),
  fn('untitle', ['string'], ([text]) => untitle(text)),
  fn('swapcase', ['string'], ([text]) => swapCase(text)),
  fn('camelcase', ['string'], ([text]) => pascalCase(text)),
  fn('snakecase', ['string'], ([text]) => separated(text, '_')),
  fn('kebabcase', ['string'], ([text]) => separated(text, '-')),
]
