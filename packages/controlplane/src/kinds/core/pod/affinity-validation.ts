import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, dnsLabel, isJsonObject, qualifiedName } from '@tenure/kube/model'

import { append } from '../../../model/append.ts'
import { asJsonObjects } from '../../../model/json.ts'
import { forbidden, invalidEach, invalidValue, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { validateSelector } from '../../common/selectors.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

export function validateAffinity(affinity: JsonObject, field: string): FieldError[] {
  return [
    ...validateNodeAffinity(asJsonObject(affinity['nodeAffinity']), `${field}.nodeAffinity`),
    ...validatePodAffinity(asJsonObject(affinity['podAffinity']), `${field}.podAffinity`),
    ...validatePodAffinity(asJsonObject(affinity['podAntiAffinity']), `${field}.podAntiAffinity`),
  ]
}

function validateNodeAffinity(affinity: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const needed = affinity[REQUIRED]
  if (isJsonObject(needed)) append(errors, validateNodeSelector(needed, `${field}.${REQUIRED}`))
  asJsonObjects(affinity[PREFERRED]).forEach(({ weight, preference }, index) => {
    const path = `${field}.${PREFERRED}[${index}]`
    append(errors, validateWeight(weight, path), validateTerm(asJsonObject(preference), `${path}.preference`))
  })
  return errors
}

export function validateNodeSelector(selector: JsonObject, field: string): FieldError[] {
  const path = `${field}.nodeSelectorTerms`
  const terms = asJsonObjects(selector['nodeSelectorTerms'])
  if (terms.length === 0) return [required(path, 'must have at least one node selector term')]
  return terms.flatMap((term, index) => validateTerm(term, `${path}[${index}]`))
}

function validateWeight(weight: unknown, field: string): FieldError[] {
  if (typeof weight === 'number' && weight >= 1 && weight <= 100) return []
  return [invalidValue(`${field}.weight`, weight ?? 0, 'must be in the range 1-100')]
}

function validateTerm(term: JsonObject, field: string): FieldError[] {
  return [
    ...asJsonObjects(term['matchExpressions']).flatMap((one, index) =>
      validateExpression(one, `${field}.matchExpressions[${index}]`),
    ),
    ...asJsonObjects(term['matchFields']).flatMap((one, index) =>
      validateFieldMatch(one, `${field}.matchFields[${index}]`),
    ),
  ]
}

function validateExpression(expression: JsonObject, field: string): FieldError[] {
  const { key, operator } = expression
  const count = asArray(expression['values']).length
  const errors: FieldError[] = []
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (count === 0) errors.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
      break
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        errors.push(forbidden(`${field}.values`, detail))
      }
      break
    case 'Gt':
    case 'Lt':
      if (count !== 1) {
        errors.push(required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
      }
      break
    default:
      errors.push(invalidValue(`${field}.operator`, operator ?? '', 'not a valid selector operator'))
  }
  return [...errors, ...invalidEach(`${field}.key`, key ?? '', qualifiedName(asString(key)))]
}

function validateFieldMatch(match: JsonObject, field: string): FieldError[] {
  const { key, operator } = match
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalidValue(`${field}.operator`, operator ?? '', 'not a valid selector operator'))
  } else if (asArray(match['values']).length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    errors.push(required(`${field}.values`, detail))
  }
  if (key !== 'metadata.name') errors.push(invalidValue(`${field}.key`, key ?? '', 'not a valid field selector key'))
  return errors
}

function validatePodAffinity(affinity: JsonObject, field: string): FieldError[] {
  const errors = asJsonObjects(affinity[REQUIRED]).flatMap((term, index) =>
    validatePodTerm(term, `${field}.${REQUIRED}[${index}]`),
  )
  asJsonObjects(affinity[PREFERRED]).forEach(({ weight, podAffinityTerm }, index) => {
    const path = `${field}.${PREFERRED}[${index}]`
    append(errors, validateWeight(weight, path))
    append(errors, validatePodTerm(asJsonObject(podAffinityTerm), `${path}.podAffinityTerm`))
  })
  return errors
}

function validatePodTerm(term: JsonObject, field: string): FieldError[] {
  const key = asString(term['topologyKey'])
  return [
    ...validateSelector(term['labelSelector'] as LabelSelector | undefined, `${field}.labelSelector`),
    ...validateSelector(term['namespaceSelector'] as LabelSelector | undefined, `${field}.namespaceSelector`),
    ...asArray(term['namespaces']).flatMap((name) => invalidEach(`${field}.namespace`, name, dnsLabel(asString(name)))),
    ...(key ? [] : [required(`${field}.topologyKey`, 'can not be empty')]),
    ...invalidEach(`${field}.topologyKey`, key, qualifiedName(key)),
  ]
}
