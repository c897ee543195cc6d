import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isDeepEqual } from '@tenure/kube/model'

import { forbidden, invalidEach } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { configMapKey } from './names.ts'

export const size = (value: unknown): number => Object.keys(asJsonObject(value)).length

export const MAX_DATA_BYTES = 1024 * 1024
const IMMUTABLE = 'field is immutable when `immutable` is set'

export function validateImmutable(object: JsonObject, old: JsonObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const errors = object['immutable'] === true ? [] : [forbidden('immutable', IMMUTABLE)]
  for (const field of fields) {
    if (!isDeepEqual(object[field], old[field])) errors.push(forbidden(field, IMMUTABLE))
  }
  return errors
}

export const validateDataKey = (field: string, key: string): FieldError[] =>
  invalidEach(`${field}[${key}]`, key, configMapKey(key))
