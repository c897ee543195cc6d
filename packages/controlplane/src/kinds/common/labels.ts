import { annotationKey, labelValue, qualifiedName } from '@tenure/kube/model'

import { isSemanticallyEqual } from '../../model/json.ts'
import { immutable, invalidEach, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'

const MAX_ANNOTATIONS_BYTES = 256 * 1024

/** Validates labels of templates and selectors. The registry validates those of objects. */
export function validateLabels(labels: unknown, field: string): FieldError[] {
  if (!labels) return []
  return Object.entries(labels).flatMap(([key, value]) => [
    ...invalidEach(field, key, qualifiedName(key)),
    ...invalidEach(field, value, labelValue(String(value))),
  ])
}

export function validateAnnotations(annotations: unknown, field: string): FieldError[] {
  if (!annotations) return []
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    errors.push(...invalidEach(field, key, annotationKey(key)))
    size += Buffer.byteLength(key) + Buffer.byteLength(String(value))
  }
  if (size > MAX_ANNOTATIONS_BYTES) errors.push(tooLong(field, MAX_ANNOTATIONS_BYTES))
  return errors
}

/** Returns an error if the field changed. */
export function unchanged(field: string, value: unknown, old: unknown): FieldError[] {
  return isSemanticallyEqual(value, old) ? [] : [immutable(field, value)]
}
