import type { Json } from '../../model/json.ts'
import { asJson, asText, at, filled, isAbsent, isJson, withinField } from '../../model/json.ts'
import { forbidden, invalidEach, notSupported, required, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateDomainPath } from '../common/domain-path.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { dnsLabel } from '../common/names.ts'
import { validateReference } from './ingress-validation.ts'

export const INGRESS_CLASSES: KindTable = {
  'ingressclasses.networking.k8s.io': {
    columns: (ingressClass, age) => {
      const isDefault =
        at(ingressClass, 'metadata', 'annotations', 'ingressclass.kubernetes.io/is-default-class') === 'true'
      const { apiGroup, kind, name } = asJson(at(ingressClass, 'spec', 'parameters'))
      const parameters = kind ? `${asText(kind)}${apiGroup ? `.${asText(apiGroup)}` : ''}/${asText(name)}` : '<none>'
      return [
        isDefault ? `${nameOf(ingressClass)} (default)` : nameOf(ingressClass),
        asText(at(ingressClass, 'spec', 'controller')),
        parameters,
        age(createdAt(ingressClass)),
      ]
    },
    rules: {
      defaults: (ingressClass) =>
        withinField(ingressClass, 'spec', (spec) =>
          withinField(spec, 'parameters', (parameters) => filled(parameters, { scope: 'Cluster' })),
        ),
      validate: validateIngressClass,
      validateUpdate: (next, old) => [
        ...unchanged('spec.controller', at(next, 'spec', 'controller') ?? '', at(old, 'spec', 'controller')),
        ...validateIngressClass(next),
      ],
    },
  },
}

const MAX_CONTROLLER_LENGTH = 250
const SCOPES = ['Cluster', 'Namespace']

function validateIngressClass(object: Json): FieldError[] {
  const { controller, parameters } = asJson(object['spec'])
  const name = asText(controller)
  const errors = name.length > MAX_CONTROLLER_LENGTH ? [tooLong('spec.controller', MAX_CONTROLLER_LENGTH)] : []
  errors.push(...validateDomainPath(name, 'spec.controller'))
  return isJson(parameters) ? [...errors, ...validateParameters(parameters, 'spec.parameters')] : errors
}

function validateParameters(parameters: Json, field: string): FieldError[] {
  const { scope, namespace } = parameters
  const errors = validateReference(parameters, field)
  if (!SCOPES.includes(asText(scope))) return [...errors, notSupported(`${field}.scope`, scope, SCOPES)]
  const place = `${field}.namespace`
  if (scope === 'Cluster') {
    return isAbsent(namespace) ? errors : [...errors, forbidden(place, "`parameters.scope` is set to 'Cluster'")]
  }
  if (isAbsent(namespace)) return [...errors, required(place, "`parameters.scope` is set to 'Namespace'")]
  return [...errors, ...invalidEach(place, namespace, dnsLabel(asText(namespace)))]
}
