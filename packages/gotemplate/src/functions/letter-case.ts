/** sprig's functions that change the case of letters. */
import { codePoints } from '../values/bytes.ts'
import {
  isLetter,
  isLower,
  isNumber,
  isPunctuation,
  isSpace,
  isTitle,
  isUpper,
  lowerCharacter,
  titleCharacter,
  upperCharacter,
} from '../values/letters.ts'
import type { GoFunction } from '../values/go-function.ts'
import { fn } from './define.ts'

const characters = (text: string): string[] => codePoints(text).map((point) => String.fromCodePoint(point))

function title(text: string): string {
  let previous = ' '
  return characters(text)
    .map((character) => {
      const isFirst = isSeparator(previous)
      previous = character
      return isFirst ? titleCharacter(character) : character
    })
    .join('')
}

function isSeparator(character: string): boolean {
  if (/^[A-Za-z0-9_]$/.test(character)) return false
  if (character.charCodeAt(0) < 128) return true
  return /^[\p{L}\p{Nd}]$/u.test(character) ? false : isSpace(character)
}

function untitle(text: string): string {
  let isNext = true
  return characters(text)
    .map((character) => {
      if (isSpace(character)) isNext = true
      else if (isNext) {
        isNext = false
        return lowerCharacter(character)
      }
      return character
    })
    .join('')
}

function swapCase(text: string): string {
  let isAfterSpace = true
  return characters(text)
    .map((character) => {
      if (isUpper(character) || isTitle(character)) {
        isAfterSpace = false
        return lowerCharacter(character)
      }
      if (isLower(character)) {
        const swapped = isAfterSpace ? titleCharacter(character) : upperCharacter(character)
        isAfterSpace = false
        return swapped
      }
      isAfterSpace = isSpace(character)
      return character
    })
    .join('')
}

const isConnector = (character: string): boolean => character === '-' || character === '_' || isSpace(character)

function pascalCase(text: string): string {
  const letters = characters(text)
  let out = ''
  let at = 0
  while (at < letters.length && isConnector(letters[at] ?? '')) out += letters[at++]
  // A text of connectors only gets its last one twice.
  if (at === letters.length) return out + (letters.at(-1) ?? '')
  let previous = ''
  let current = letters[at] ?? ''
  let isFirstUpper = isUpper(current)
  current = upperCharacter(current)
  for (at++; at < letters.length; at++) {
    previous = current
    current = letters[at] ?? ''
    if (isConnector(current) && isConnector(previous)) {
      out += previous
      continue
    }
    if (isConnector(previous)) {
      isFirstUpper = isUpper(current)
      current = upperCharacter(current)
      continue
    }
    if (isFirstUpper) {
      if (isUpper(current)) current = lowerCharacter(current)
      else isFirstUpper = false
    }
    out += previous
  }
  return out + current
}

type WordType = 'number' | 'upper' | 'alphabet' | 'connector' | 'punctuation' | 'other' | 'none'

interface Word {
  readonly type: WordType
  readonly text: string
  readonly rest: readonly string[]
}

const CHINESE = /^[\u4E00-\u9FCC\u3400-\u4D85\u{20000}-\u{2B81D}]$/u
const isAlphabet = (character: string): boolean => isLetter(character) && !CHINESE.test(character)

function nextWord(letters: readonly string[]): Word {
  const [first] = letters
  if (first === undefined) return { type: 'none', text: '', rest: [] }
  let end = 1
  const extend = (test: (character: string) => boolean): void => {
    while (end < letters.length && test(letters[end] ?? '')) end++
  }
  const word = (type: WordType): Word => ({ type, text: letters.slice(0, end).join(''), rest: letters.slice(end) })
  const isInside = (character: string): boolean => isAlphabet(character) && !isUpper(character)
  if (isConnector(first)) {
    extend(isConnector)
    return word('connector')
  }
  if (isPunctuation(first)) {
    extend(isPunctuation)
    return word('punctuation')
  }
  if (isUpper(first)) {
    const second = letters[1] ?? ''
    if (isUpper(second)) {
      extend(isUpper)
      // The last of several capitals begins the next word.
      if (end < letters.length && isAlphabet(letters[end] ?? '')) end--
    } else if (isAlphabet(second)) extend(isInside)
    return word('upper')
  }
  if (isAlphabet(first)) {
    extend(isInside)
    return word('alphabet')
  }
  if (isNumber(first)) {
    extend(isNumber)
    return word('number')
  }
  extend(
    (character) =>
      !(isConnector(character) || isAlphabet(character) || isNumber(character) || isPunctuation(character)),
  )
  return word('other')
}

function lowered({ type, text }: Word, connector: string): string {
  if (type !== 'upper' && type !== 'connector') return text
  return characters(text)
    .map((character) =>
      isConnector(character) ? connector : isUpper(character) ? lowerCharacter(character) : character,
    )
    .join('')
}

const isJoined = ({ type }: Word): boolean => type === 'alphabet' || type === 'number'
const isBreak = ({ type }: Word): boolean => type === 'connector' || type === 'punctuation'

function separated(text: string, connector: string): string {
  let out = ''
  let word = nextWord(characters(text))
  const takeJoined = (): void => {
    while (isJoined(word)) {
      out += lowered(word, connector)
      word = nextWord(word.rest)
    }
    if (word.type !== 'none' && !isBreak(word)) out += connector
  }
  while (word.rest.length > 0) {
    const previous = word
    if (previous.type !== 'connector') out += lowered(previous, connector)
    word = nextWord(previous.rest)
    if (previous.type === 'number') takeJoined()
    else if (previous.type === 'connector') out += lowered(previous, connector)
    else if (previous.type !== 'punctuation') {
      if (word.type !== 'number') {
        if (!isBreak(word)) out += connector
        continue
      }
      if (word.rest.length === 0) continue
      const number = word
      word = nextWord(number.rest)
      if (word.type === 'alphabet') {
        out += connector + lowered(number, connector)
        takeJoined()
      } else {
        out += lowered(number, connector)
        if (!isBreak(word)) out += connector
      }
    }
  }
  return out + lowered(word, connector)
}

export const letterCaseFunctions: readonly GoFunction[] = [
  fn('title', ['string'], ([text]) => title(text)),
  fn('untitle', ['string'], ([text]) => untitle(text)),
  fn('swapcase', ['string'], ([text]) => swapCase(text)),
  fn('camelcase', ['string'], ([text]) => pascalCase(text)),
  fn('snakecase', ['string'], ([text]) => separated(text, '_')),
  fn('kebabcase', ['string'], ([text]) => separated(text, '-')),
]
