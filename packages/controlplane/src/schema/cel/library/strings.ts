import { compileRe2 } from '../../formats/regexp.ts'
import type { Pattern } from '../../formats/regexp.ts'
import { charge, chargeSize } from '../cost.ts'
import { CelObject } from './objects.ts'

/** CEL's string functions on code points, with their costs. */

const points = (text: string): string[] => {
  chargeSize(text.length)
  return Array.from(text)
}

const lengthOf = (text: string): number => Array.from(text).length

function at(index: bigint, length: number, isEnd: boolean): number {
  const number = Number(index)
  if (number < 0 || (isEnd ? number > length : number >= length)) throw new Error(`index out of range: ${index}`)
  return number
}

export function matches(text: string, pattern: string): boolean {
  return compiled(pattern, text).test(text)
}

export function find(text: string, pattern: string): string {
  return compiled(pattern, text).find(text) ?? ''
}

export function findAll(text: string, pattern: string, most: bigint = -1n): string[] {
  const expression = compiled(pattern, text)
  // A search may read the rest of the text and find only its first character.
  const all = expression.findAll(text, (rest) => charge(Math.floor((rest * expression.size) / STEPS_PER_SEARCH_UNIT)))
  return most < 0n ? all : all.slice(0, Number(most))
}

/** Steps of matching, one instruction on one character each, that cost one unit. Most cost less than the worst. */
const STEPS_PER_UNIT = 30
const STEPS_PER_SEARCH_UNIT = 200

/** Charges for a search with the pattern: by its length, as in Kubernetes, and more if it has repetitions. */
function compiled(source: string, text: string): Pattern {
  chargeSize(text.length * Math.max(1, source.length / 4))
  const pattern = compileRe2(source)
  if (pattern.size > source.length) charge(Math.ceil((text.length * pattern.size) / STEPS_PER_UNIT))
  return pattern
}

export function charAt(text: string, index: bigint): string {
  const characters = points(text)
  return characters[at(index, characters.length, true)] ?? ''
}

export function indexOf(text: string, search: string, from: bigint = 0n): bigint {
  const characters = points(text)
  const start = at(from, characters.length, true)
  const found = characters.slice(start).join('').indexOf(search)
  return found < 0 ? -1n : BigInt(start + lengthOf(characters.slice(start).join('').slice(0, found)))
}

export function lastIndexOf(text: string, search: string, from?: bigint): bigint {
  const characters = points(text)
  const limit = from === undefined ? characters.length : at(from, characters.length, true)
  const end = Math.min(characters.length, limit + lengthOf(search))
  const head = from === undefined ? text : characters.slice(0, end).join('')
  const found = head.lastIndexOf(search)
  return found < 0 ? -1n : BigInt(lengthOf(head.slice(0, found)))
}

export function substring(text: string, start: bigint, end?: bigint): string {
  const characters = points(text)
  const from = at(start, characters.length, true)
  const to = end === undefined ? characters.length : at(end, characters.length, true)
  if (from > to) throw new Error(`invalid substring range. start: ${start}, end: ${end}`)
  return characters.slice(from, to).join('')
}

export function lowerAscii(text: string): string {
  chargeSize(text.length)
  return text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())
}

export function upperAscii(text: string): string {
  chargeSize(text.length)
  return text.replace(/[a-z]+/g, (lower) => lower.toUpperCase())
}

export function trim(text: string): string {
  chargeSize(text.length)
  return text.trim()
}

export function replace(text: string, from: string, to: string, most: bigint = -1n): string {
  const parts = split(text, from)
  const count = most < 0n ? parts.length - 1 : Math.min(Number(most), parts.length - 1)
  chargeSize(text.length + count * to.length)
  return (
    parts.slice(0, count + 1).join(to) +
    parts
      .slice(count + 1)
      .map((part) => from + part)
      .join('')
  )
}

export function split(text: string, separator: string, most: bigint = -1n): string[] {
  const parts = separator === '' ? points(text) : text.split(separator)
  chargeSize(text.length)
  const limit = Number(most)
  if (limit === 0) return []
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

export function join(list: readonly string[], separator = ''): string {
  let size = 0
  for (const item of list) size += item.length + separator.length
  chargeSize(size)
  return list.join(separator)
}

export function quote(text: string): string {
  chargeSize(text.length)
  return JSON.stringify(text)
}

/** `%s %d %f %e %b %o %x %X %%`. */
export function format(pattern: string, values: readonly unknown[]): string {
  let next = 0
  const text = pattern.replace(/%(?:\.(\d+))?([sdfeboxX%])/g, (_, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%'
    if (next >= values.length) throw new Error(`index ${next} out of range`)
    const value = values[next]
    next += 1
    return formatValue(value, verb, precision === undefined ? 6 : Number(precision))
  })
  chargeSize(text.length)
  return text
}

function formatValue(value: unknown, verb: string, precision: number): string {
  const digits = Math.min(precision, 100)
  switch (verb) {
    case 'd':
      return textOf(value)
    case 'f':
      return Number(value).toFixed(digits)
    case 'e':
      return Number(value)
        .toExponential(digits)
        .replace(/e([+-])(\d)$/, 'e$10$2')
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : toBase(value, 2)
    case 'o':
      return toBase(value, 8)
    case 'x':
      return hex(value)
    case 'X':
      return hex(value).toUpperCase()
    default:
      return textOf(value)
  }
}

function toBase(value: unknown, base: number): string {
  if (typeof value === 'bigint') return value.toString(base)
  throw new Error('only integers can be formatted so')
}

function hex(value: unknown): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : toBase(value, 16)
}

/** Formats a value for `%s`. */
export function textOf(value: unknown): string {
  charge(1)
  if (typeof value === 'string') return value
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  const entries = value instanceof Map ? [...value] : value instanceof CelObject ? Object.entries(value) : undefined
  if (!entries) return String(value)
  return `{${entries
    .map(([key, item]) => `${textOf(key)}: ${textOf(item)}`)
    .toSorted()
    .join(', ')}}`
}

/** Throws if the pattern is invalid. */
export function checkPattern(pattern: string): void {
  compileRe2(pattern)
}
