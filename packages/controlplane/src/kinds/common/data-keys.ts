import type { Json } from '../../model/json.ts'
import { asJson, isEqual } from '../../model/json.ts'
import { forbidden, invalidEach } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { configMapKey } from './names.ts'

export const size = (value: unknown): number => Object.keys(asJson(value)).length

export const MAX_DATA_BYTES = 1024 * 1024
const IMMUTABLE = 'field is immutable when `immutable` is set'

export function validateImmutable(object: Json, old: Json, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const errors = object['immutable'] === true ? [] : [forbidden('immutable', IMMUTABLE)]
  for (const field of fields) {
    if (!isEqual(object[field], old[field])) errors.push(forbidden(field, IMMUTABLE))
  }
  return errors
}

export const validateDataKey = (field: string, key: string): FieldError[] =>
  invalidEach(`${field}[${key}]`, key, configMapKey(key))
