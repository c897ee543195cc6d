import { compareQuantities, parseQuantity, QuantityError } from '@tenure/kube/model'

/** A field of `config` cannot be used. The message names the key and the value. */
export class ConfigFieldError extends Error {}

const MAX_SHOWN_LENGTH = 60

/** A value for a message: JSON, and short. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

export function fieldError(key: string, value: unknown, rule: string): ConfigFieldError {
  return new ConfigFieldError(`Config key "${key}" is ${shownValue(value)}: ${rule}.`)
}

/** An integer, also as decimal text, because the platform's forms send text. */
export function readInteger(key: string, value: unknown, min: number, max: number): number {
  const number = typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim()) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw fieldError(key, value, `it must be an integer from ${min} to ${max}`)
  }
  return number
}

export function readBoolean(key: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw fieldError(key, value, 'it must be true or false')
}

export function readText(key: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value.trim()
  throw fieldError(key, value, 'it must be a text')
}

/** A positive quantity, as the API server accepts it; a number counts whole units: cores or bytes. */
export function readQuantity(key: string, value: unknown): string {
  const text = typeof value === 'number' ? String(value) : readText(key, value)
  try {
    if (compareQuantities(parseQuantity(text), parseQuantity('0')) > 0) return text
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    throw fieldError(key, value, 'it must be a quantity such as 500m, 512Mi or 10Gi')
  }
  throw fieldError(key, value, 'it must be more than 0')
}

export function isMoreThan(a: string, b: string): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b)) > 0
}

/** Bytes of a memory quantity, rounded down. */
export function bytesOf(quantity: string): number {
  return Number(parseQuantity(quantity).nanos / 1_000_000_000n)
}
