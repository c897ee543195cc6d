/** Says whether text without quotes is read as a string. */
import { isTimestamp, plainValue } from './scalars.ts'

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/** Numbers in base 60 are read as strings, but other readers take them for numbers. */
export function isResolvedAsString(text: string): boolean {
  if (typeof plainValue(text) !== 'string') return false
  return !/^[-+\d]/.test(text) || !(isTimestamp(text) || BASE_60.test(text))
}
