import { LabelMatcher } from '@tenure/kube'
import type { LabelSelector } from '@tenure/kube'
import { asJsonObject, labelValue, qualifiedName } from '@tenure/kube/model'

import { forbidden, invalidEach, invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { validateLabels } from './labels.ts'

/** Validates a label selector, if there is one. */
export function validateSelector(selector: LabelSelector | undefined, field: string): FieldError[] {
  if (!selector) return []
  const errors = validateLabels(selector.matchLabels, `${field}.matchLabels`)
  selector.matchExpressions?.forEach(({ key, operator, values = [] }, index) => {
    const path = `${field}.matchExpressions[${index}]`
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        errors.push(forbidden(`${path}.values`, detail))
      }
    } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'))
    errors.push(...invalidEach(`${path}.key`, key, qualifiedName(key)))
    values.forEach((value, at) => errors.push(...invalidEach(`${path}.values[${at}]`, value, labelValue(value))))
  })
  return errors
}

export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}

/** Returns a predicate on labels, or undefined if the selector is invalid. Without a selector nothing matches. */
export function matcherOf(selector: LabelSelector | undefined): ((labels: unknown) => boolean) | undefined {
  if (!selector) return () => false
  try {
    const matcher = LabelMatcher.from(selector)
    return (labels) => matcher.matches(asJsonObject(labels) as Readonly<Record<string, string>>)
  } catch {
    return undefined
  }
}

/** Prints labels: `a=b,c=d` or `<none>`. */
export function formatLabels(labels: unknown): string {
  const text = Object.entries(asJsonObject(labels))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',')
  return text || '<none>'
}

/** Prints a selector: `app=web,tier in (a,b)`. */
export function formatSelector(selector: unknown): string {
  if (!selector) return '<none>'
  try {
    return LabelMatcher.from(selector).toString() || '<none>'
  } catch {
    return '<error>'
  }
}
