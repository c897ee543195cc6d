import { invalidEach, invalidValue, notNegative } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { percentage } from './names.ts'

export function validateIntOrPercent(value: unknown, field: string): FieldError[] {
  return typeof value === 'string' ? invalidEach(field, value, percentage(value)) : notNegative(field, value)
}

export function validateNotAbove100(value: unknown, field: string): FieldError[] {
  if (typeof value !== 'string' || percentage(value).length > 0 || Number.parseInt(value, 10) <= 100) return []
  return [invalidValue(field, value, 'must not be greater than 100%')]
}

export function valueOfIntOrPercent(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && percentage(value).length === 0 ? Number.parseInt(value, 10) : 0
}
