import { goQuote, goValue } from './go-text.ts'
import type { FieldError } from './types.ts'

/** Field errors, worded as the API server words them. */

export const required = (field: string, detail = ''): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: detail ? `Required value: ${detail}` : 'Required value',
})

export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${goValue(value)}: ${detail}`,
})

/** Without the value: of objects and lists. */
export const invalidOmitted = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: detail ? `Invalid value: ${detail}` : 'Invalid value',
})

export const typeInvalid = (field: string, value: string, detail: string): FieldError => ({
  reason: 'FieldValueTypeInvalid',
  field,
  message: `Invalid value: ${goQuote(value)}: ${detail}`,
})

export const forbidden = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${detail}`,
})

export const duplicate = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${goValue(value)}`,
})

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${goValue(value)}: supported values: ${supported.map(goQuote).join(', ')}`,
})

export const tooLong = (field: string, most: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${most} byte${most === 1 ? '' : 's'}`,
})

export const tooMany = (field: string, actual: number, most: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${most} item${most === 1 ? '' : 's'}`,
})
