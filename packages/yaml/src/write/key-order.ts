/** The order of keys in the output: numbers inside of keys are compared as numbers. */

const LETTER = /^\p{L}/u
const DIGITS = /^\p{Nd}*/u
const DIGITS_AT_END = /\p{Nd}*$/u
/** The code of the digit. */
const ZERO = 48

/** `areShortNumbersFirst`: a number that ends before a letter precedes one that goes on, as in go-yaml 3. */
export function compareKeys(a: string, b: string, areShortNumbersFirst: boolean): number {
  const at = commonLength(a, b)
  if (at === a.length || at === b.length) return a.length - b.length
  const [left, right] = [a.slice(at), b.slice(at)]
  const [isLetter, isOtherLetter] = [LETTER.test(left), LETTER.test(right)]
  if (isLetter && isOtherLetter) return comparePoints(left, right)
  const digitsBefore = DIGITS_AT_END.exec(a.slice(0, at))?.[0] ?? ''
  if (isLetter === isOtherLetter) return compareNumbers(left, right, digitsBefore)
  const areLettersFirst = areShortNumbersFirst && digitsBefore !== ''
  return isLetter === areLettersFirst ? -1 : 1
}

/** The length of the text with which both begin, in whole characters. */
function commonLength(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  let at = 0
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++
  const isInsidePair = at > 0 && at < shorter && (a.codePointAt(at - 1) ?? 0) > 0xffff
  return isInsidePair ? at - 1 : at
}

const comparePoints = (a: string, b: string): number => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)

/** Compares texts that differ in their first character by the number that each begins with. */
function compareNumbers(a: string, b: string, digitsBefore: string): number {
  // A zero counts if it continues a number, as in 10 and 1.
  const continues = (a.startsWith('0') || b.startsWith('0')) && /[^0]/.test(digitsBefore)
  const [digits, otherDigits] = [DIGITS.exec(a)?.[0] ?? '', DIGITS.exec(b)?.[0] ?? '']
  const [value, other] = [valueOf(digits, continues), valueOf(otherDigits, continues)]
  if (value !== other) return value < other ? -1 : 1
  return Array.from(digits).length - Array.from(otherDigits).length || comparePoints(a, b)
}

/** The number as Go computes it in 64 bits; a digit of another script counts by its code. */
function valueOf(digits: string, continues: boolean): bigint {
  let value = continues ? 1n : 0n
  for (const digit of digits) value = BigInt.asIntN(64, value * 10n + BigInt((digit.codePointAt(0) ?? ZERO) - ZERO))
  return value
}
