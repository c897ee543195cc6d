import { goQuote, goValue } from './go-text.ts'
import type { FieldError } from './types.ts'

/** Field errors with the texts of the API server. */

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

/** Without the value, for objects and lists. */
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

export const tooLong = (field: string, max: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${max} byte${max === 1 ? '' : 's'}`,
})

export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? '' : 's'}`,
})

export const notFoundValue = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${goValue(value)}`,
})

export const immutable = (field: string, value: unknown): FieldError => invalidValue(field, value, 'field is immutable')

/** Returns one error per detail. */
export const invalidEach = (field: string, value: unknown, details: readonly string[]): FieldError[] =>
  details.map((detail) => invalidValue(field, value, detail))

export const notNegative = (field: string, value: unknown): FieldError[] =>
  typeof value === 'number' && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : []

/** JSON as Go writes it in a field error: fields in the given order. */
function structText(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replaceAll(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
}

/** `invalidValue` for a value that is a struct in Go. The caller names and orders its fields as Go does. */
export const invalidStruct = (field: string, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: detail ? `Invalid value: ${structText(value)}: ${detail}` : `Invalid value: ${structText(value)}`,
})

export const notSupportedStruct = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${structText(value)}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`,
})

export const duplicateStruct = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${structText(value)}`,
})
