/** The order of keys in the output: numbers inside of keys are compared as numbers. */

const isLetter = (character: string): boolean => /^\p{L}$/u.test(character)
const isDigit = (character: string): boolean => /^\p{Nd}$/u.test(character)

/** `areDigitsFirst`: a digit run sorts before letters, as in go-yaml 3. */
export function compareKeys(a: string, b: string, areDigitsFirst: boolean): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  let wasDigit = false
  for (let index = 0; index < left.length && index < right.length; index++) {
    const [one = '', other = ''] = [left[index], right[index]]
    if (one === other) {
      wasDigit = isDigit(one)
      continue
    }
    const [isOneLetter, isOtherLetter] = [isLetter(one), isLetter(other)]
    if (isOneLetter && isOtherLetter) return comparePoints(one, other)
    if (isOneLetter || isOtherLetter) return (areDigitsFirst && wasDigit ? isOneLetter : isOtherLetter) ? -1 : 1
    return compareNumbers(left, right, index)
  }
  return left.length - right.length
}

const comparePoints = (a: string, b: string): number => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)

function compareNumbers(left: readonly string[], right: readonly string[], index: number): number {
  let start = 0n
  if (left[index] === '0' || right[index] === '0') {
    for (let before = index - 1; before >= 0 && isDigit(left[before] ?? ''); before--) {
      if (left[before] !== '0') {
        start = 1n
        break
      }
    }
  }
  const [first, firstEnd] = numberAt(left, index, start)
  const [second, secondEnd] = numberAt(right, index, start)
  if (first !== second) return first < second ? -1 : 1
  if (firstEnd !== secondEnd) return firstEnd - secondEnd
  return comparePoints(left[index] ?? '', right[index] ?? '')
}

function numberAt(characters: readonly string[], index: number, start: bigint): readonly [bigint, number] {
  let value = start
  let end = index
  for (; end < characters.length && isDigit(characters[end] ?? ''); end++) {
    const digit = (characters[end]?.codePointAt(0) ?? 48) - 48
    value = BigInt.asIntN(64, value * 10n + BigInt(digit))
  }
  return [value, end]
}
