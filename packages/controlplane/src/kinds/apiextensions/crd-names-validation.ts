import type { JsonObject } from '@tenure/kube/model'
import { asArray, asString, dns1035Label } from '@tenure/kube/model'

import { invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'

/** Validates `spec.names`. */
export function validateNewNames(names: JsonObject): FieldError[] {
  const missing = ['plural', 'singular', 'kind', 'listKind'].filter((name) => !names[name])
  return [...missing.map((name) => required(`spec.names.${name}`)), ...validateNames(names, 'spec.names')]
}

const MIXED = 'may have mixed case, but should otherwise match: '

/** Validates `spec.names` or `status.acceptedNames`. */
export function validateNames(names: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const check = (name: string, value: string, prefix = ''): void => {
    const found = value ? dns1035Label(prefix ? value.toLowerCase() : value) : []
    if (found.length > 0) errors.push(invalidValue(`${field}.${name}`, value, prefix + found.join(',')))
  }
  check('plural', asString(names['plural']))
  check('singular', asString(names['singular']))
  check('kind', asString(names['kind']), MIXED)
  check('listKind', asString(names['listKind']), MIXED)
  asArray(names['shortNames']).forEach((name, index) => check(`shortNames[${index}]`, asString(name)))
  if (names['kind'] && names['kind'] === names['listKind']) {
    errors.push(invalidValue(`${field}.listKind`, names['listKind'], 'kind and listKind may not be the same'))
  }
  asArray(names['categories']).forEach((name, index) => check(`categories[${index}]`, asString(name)))
  return errors
}
