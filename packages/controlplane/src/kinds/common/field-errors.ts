import { invalidValue } from '../../schema/field-errors.ts'
import { goValue } from '../../schema/go-text.ts'
import type { FieldError } from '../../schema/types.ts'

export {
  duplicate,
  forbidden as forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../schema/field-errors.ts'

export const notFoundValue = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${goValue(value)}`,
})

export const immutable = (field: string, value: unknown): FieldError => invalidValue(field, value, 'field is immutable')

/** One complaint per sentence about the value. */
export const invalidEach = (field: string, value: unknown, sentences: readonly string[]): FieldError[] =>
  sentences.map((sentence) => invalidValue(field, value, sentence))

export const notNegative = (field: string, value: unknown): FieldError[] =>
  typeof value === 'number' && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : []

/** As Go shows a struct: fields in their order. */
function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replaceAll(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
}

/** `invalidValue` for a value that is a struct in Go: its fields are given as Go names and orders them. */
export const invalidStruct = (field: string, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: detail ? `Invalid value: ${shown(value)}: ${detail}` : `Invalid value: ${shown(value)}`,
})

export const notSupportedStruct = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`,
})

export const duplicateStruct = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${shown(value)}`,
})
