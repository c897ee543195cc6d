import type { LabelSelector } from '@tenure/kube'

import type { Json } from '../../../model/json.ts'
import { asJson, asJsons, asList, asText, isJson } from '../../../model/json.ts'
import { forbidden, invalidEach, invalidValue, required } from '../../../schema/field-errors.ts'
import type { FieldError } from '../../../schema/types.ts'
import { dnsLabel, qualifiedName } from '../../common/names.ts'
import { validateSelector } from '../../common/selectors.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

export function validateAffinity(affinity: Json, field: string): FieldError[] {
  return [
    ...validateNodeAffinity(asJson(affinity['nodeAffinity']), `${field}.nodeAffinity`),
    ...validatePodAffinity(asJson(affinity['podAffinity']), `${field}.podAffinity`),
    ...validatePodAffinity(asJson(affinity['podAntiAffinity']), `${field}.podAntiAffinity`),
  ]
}

function validateNodeAffinity(affinity: Json, field: string): FieldError[] {
  const errors: FieldError[] = []
  const needed = affinity[REQUIRED]
  if (isJson(needed)) errors.push(...validateNodeSelector(needed, `${field}.${REQUIRED}`))
  asJsons(affinity[PREFERRED]).forEach(({ weight, preference }, index) => {
    const path = `${field}.${PREFERRED}[${index}]`
    errors.push(...validateWeight(weight, path), ...validateTerm(asJson(preference), `${path}.preference`))
  })
  return errors
}

export function validateNodeSelector(selector: Json, field: string): FieldError[] {
  const path = `${field}.nodeSelectorTerms`
  const terms = asJsons(selector['nodeSelectorTerms'])
  if (terms.length === 0) return [required(path, 'must have at least one node selector term')]
  return terms.flatMap((term, index) => validateTerm(term, `${path}[${index}]`))
}

function validateWeight(weight: unknown, field: string): FieldError[] {
  if (typeof weight === 'number' && weight >= 1 && weight <= 100) return []
  return [invalidValue(`${field}.weight`, weight ?? 0, 'must be in the range 1-100')]
}

function validateTerm(term: Json, field: string): FieldError[] {
  return [
    ...asJsons(term['matchExpressions']).flatMap((one, index) =>
      validateExpression(one, `${field}.matchExpressions[${index}]`),
    ),
    ...asJsons(term['matchFields']).flatMap((one, index) => validateFieldMatch(one, `${field}.matchFields[${index}]`)),
  ]
}

function validateExpression(expression: Json, field: string): FieldError[] {
  const { key, operator } = expression
  const count = asList(expression['values']).length
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
  return [...errors, ...invalidEach(`${field}.key`, key ?? '', qualifiedName(asText(key)))]
}

function validateFieldMatch(match: Json, field: string): FieldError[] {
  const { key, operator } = match
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalidValue(`${field}.operator`, operator ?? '', 'not a valid selector operator'))
  } else if (asList(match['values']).length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    errors.push(required(`${field}.values`, detail))
  }
  if (key !== 'metadata.name') errors.push(invalidValue(`${field}.key`, key ?? '', 'not a valid field selector key'))
  return errors
}

function validatePodAffinity(affinity: Json, field: string): FieldError[] {
  const errors = asJsons(affinity[REQUIRED]).flatMap((term, index) =>
    validatePodTerm(term, `${field}.${REQUIRED}[${index}]`),
  )
  asJsons(affinity[PREFERRED]).forEach(({ weight, podAffinityTerm }, index) => {
    const path = `${field}.${PREFERRED}[${index}]`
    errors.push(...validateWeight(weight, path))
    errors.push(...validatePodTerm(asJson(podAffinityTerm), `${path}.podAffinityTerm`))
  })
  return errors
}

function validatePodTerm(term: Json, field: string): FieldError[] {
  const key = asText(term['topologyKey'])
  return [
    ...validateSelector(term['labelSelector'] as LabelSelector | undefined, `${field}.labelSelector`),
    ...validateSelector(term['namespaceSelector'] as LabelSelector | undefined, `${field}.namespaceSelector`),
    ...asList(term['namespaces']).flatMap((name) => invalidEach(`${field}.namespace`, name, dnsLabel(asText(name)))),
    ...(key ? [] : [required(`${field}.topologyKey`, 'can not be empty')]),
    ...invalidEach(`${field}.topologyKey`, key, qualifiedName(key)),
  ]
}
