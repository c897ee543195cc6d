import { asError } from '@tenure/kube'
import { isJsonObject } from '@tenure/kube/model'
import { parseDuration } from '../time/duration.ts'
import { parseAddress } from '../health/address.ts'
import type { Option, Value } from './option.ts'

/** Parses the text of a flag or variable. Throws an Error that describes the problem. */
export function parseText(option: Option, text: string): Value {
  switch (option.type) {
    case 'string':
      return choice(option.choices, text)
    case 'integer':
      if (!/^[+-]?\d{1,16}$/.test(text)) throw wrong(text, 'a whole number')
      return within(Number(text), option.min, option.max)
    case 'boolean':
      return boolean(text)
    case 'duration':
      return duration(text, option.min, option.max)
    case 'list':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean)
    case 'structure':
      throw wrong(text, NAMES.structure)
    case 'address':
      parseAddress(text)
  }
  return text
}

/** Parses a value from a file, which may already have a type. */
export function parseFileValue(option: Option, value: unknown): Value {
  if (option.type === 'structure' && isJsonObject(value)) return value
  if (typeof value === 'string') return parseText(option, value)
  if (typeof value === 'boolean' && option.type === 'boolean') return value
  // 0 is the only number that is also an address (none) and a duration.
  const isNumeric = option.type !== 'string' && option.type !== 'structure'
  if (typeof value === 'number' && (option.type === 'integer' || value === 0) && isNumeric) {
    return parseText(option, String(value))
  }
  if (Array.isArray(value) && option.type === 'list') {
    const items: readonly unknown[] = value
    const invalid = items.find((item) => typeof item !== 'string')
    if (invalid !== undefined)
      throw new Error(`${JSON.stringify(invalid)} in the list is not a string; put it in quotes`)
    return items as readonly string[]
  }
  const hint = option.type === 'string' && typeof value !== 'object' ? '; put it in quotes' : ''
  throw new Error(`${shown(value)} is not ${NAMES[option.type]}${hint}`)
}

/** Names of the types in messages, with their article. */
export const NAMES: Readonly<Record<Option['type'], string>> = {
  string: 'a string',
  integer: 'a whole number',
  boolean: 'true or false',
  duration: 'a duration such as 1h30m',
  list: 'a list',
  address: 'an address such as :8081',
  structure: 'a mapping',
}

/** Why parsing failed, without the value if it is secret. */
export function problemOf(option: Option, thrown: unknown): string {
  return option.secret ? `its value (hidden) is not ${NAMES[option.type]}` : asError(thrown).message.replace(/\.$/, '')
}

function duration(text: string, min: string | undefined, max: string | undefined): number {
  const value = parseDuration(text)
  if (min !== undefined && value < parseDuration(min)) throw new Error(`it must be at least ${min}`)
  if (max !== undefined && value > parseDuration(max)) throw new Error(`it must be at most ${max}`)
  return value
}

function boolean(text: string): boolean {
  switch (text.toLowerCase()) {
    case 'true':
    case '1':
    case 'yes':
      return true
    case 'false':
    case '0':
    case 'no':
      return false
    default:
      throw wrong(text, 'true or false')
  }
}

function choice(choices: readonly string[] | undefined, text: string): string {
  if (choices && !choices.includes(text)) throw wrong(text, `one of ${choices.join(', ')}`)
  return text
}

function within(value: number, min: number | undefined, max: number | undefined): number {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is too large`)
  if (min !== undefined && value < min) throw new Error(`it must be at least ${min}`)
  if (max !== undefined && value > max) throw new Error(`it must be at most ${max}`)
  return value
}

function wrong(text: string, wanted: string): Error {
  return new Error(`${shown(text)} is not ${wanted}`)
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
