import type { Json } from '../../model/json.ts'
import { asList, asText } from '../../model/json.ts'
import { invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { dns1035Label } from '../common/names.ts'

/** Validates `spec.names`. */
export function validateNewNames(names: Json): FieldError[] {
  const missing = ['plural', 'singular', 'kind', 'listKind'].filter((name) => !names[name])
  return [...missing.map((name) => required(`spec.names.${name}`)), ...validateNames(names, 'spec.names')]
}

const MIXED = 'may have mixed case, but should otherwise match: '

/** Validates `spec.names` or `status.acceptedNames`. */
export function validateNames(names: Json, field: string): FieldError[] {
  const errors: FieldError[] = []
  const check = (name: string, value: string, prefix = ''): void => {
    const found = value ? dns1035Label(prefix ? value.toLowerCase() : value) : []
    if (found.length > 0) errors.push(invalidValue(`${field}.${name}`, value, prefix + found.join(',')))
  }
  check('plural', asText(names['plural']))
  check('singular', asText(names['singular']))
  check('kind', asText(names['kind']), MIXED)
  check('listKind', asText(names['listKind']), MIXED)
  asList(names['shortNames']).forEach((name, index) => check(`shortNames[${index}]`, asText(name)))
  if (names['kind'] && names['kind'] === names['listKind']) {
    errors.push(invalidValue(`${field}.listKind`, names['listKind'], 'kind and listKind may not be the same'))
  }
  asList(names['categories']).forEach((name, index) => check(`categories[${index}]`, asText(name)))
  return errors
}
