import type { FieldError } from '../../schema/types.ts'
import { forbiddenField, invalidEach, notSupported, required, tooLong } from '../common/field-errors.ts'
import { validateDomainPath } from '../common/domain-path.ts'
import type { Json } from '../../model/json.ts'
import { asJson, asText, isAbsent, isJson } from '../../model/json.ts'
import { validateReference } from './ingress-validation.ts'
import { dnsLabel } from '../common/names.ts'

const LONGEST_CONTROLLER = 250
const SCOPES = ['Cluster', 'Namespace']

/** Who serves the ingresses of a class, and where it is told how. */
export function validateClassOfIngresses(object: Json): FieldError[] {
  const { controller, parameters } = asJson(object['spec'])
  const name = asText(controller)
  const wrong = name.length > LONGEST_CONTROLLER ? [tooLong('spec.controller', LONGEST_CONTROLLER)] : []
  wrong.push(...validateDomainPath(name, 'spec.controller'))
  return isJson(parameters) ? [...wrong, ...validateParameters(parameters, 'spec.parameters')] : wrong
}

function validateParameters(parameters: Json, field: string): FieldError[] {
  const { scope, namespace } = parameters
  const wrong = validateReference(parameters, field)
  if (!SCOPES.includes(asText(scope))) return [...wrong, notSupported(`${field}.scope`, scope, SCOPES)]
  const place = `${field}.namespace`
  if (scope === 'Cluster') {
    return isAbsent(namespace) ? wrong : [...wrong, forbiddenField(place, "`parameters.scope` is set to 'Cluster'")]
  }
  if (isAbsent(namespace)) return [...wrong, required(place, "`parameters.scope` is set to 'Namespace'")]
  return [...wrong, ...invalidEach(place, namespace, dnsLabel(asText(namespace)))]
}
