import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, dnsLabel, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { filled, isAbsent, withinField } from '../../model/json.ts'
import { forbidden, invalidEach, notSupported, required, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateDomainPath } from '../common/domain-path.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { validateReference } from './ingress-validation.ts'

export const INGRESS_CLASSES: KindTable = {
  'ingressclasses.networking.k8s.io': {
    columns: (ingressClass, age) => {
      const isDefault =
        valueAtPath(ingressClass, 'metadata', 'annotations', 'ingressclass.kubernetes.io/is-default-class') === 'true'
      const { apiGroup, kind, name } = asJsonObject(valueAtPath(ingressClass, 'spec', 'parameters'))
      const parameters = kind
        ? `${asString(kind)}${apiGroup ? `.${asString(apiGroup)}` : ''}/${asString(name)}`
        : '<none>'
      return [
        isDefault ? `${nameOf(ingressClass)} (default)` : nameOf(ingressClass),
        asString(valueAtPath(ingressClass, 'spec', 'controller')),
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
        ...unchanged(
          'spec.controller',
          valueAtPath(next, 'spec', 'controller') ?? '',
          valueAtPath(old, 'spec', 'controller'),
        ),
        ...validateIngressClass(next),
      ],
    },
  },
}

const MAX_CONTROLLER_LENGTH = 250
const SCOPES = ['Cluster', 'Namespace']

function validateIngressClass(object: JsonObject): FieldError[] {
  const { controller, parameters } = asJsonObject(object['spec'])
  const name = asString(controller)
  const errors = name.length > MAX_CONTROLLER_LENGTH ? [tooLong('spec.controller', MAX_CONTROLLER_LENGTH)] : []
  append(errors, validateDomainPath(name, 'spec.controller'))
  return isJsonObject(parameters) ? [...errors, ...validateParameters(parameters, 'spec.parameters')] : errors
}

function validateParameters(parameters: JsonObject, field: string): FieldError[] {
  const { scope, namespace } = parameters
  const errors = validateReference(parameters, field)
  if (!SCOPES.includes(asString(scope))) return [...errors, notSupported(`${field}.scope`, scope, SCOPES)]
  const place = `${field}.namespace`
  if (scope === 'Cluster') {
    return isAbsent(namespace) ? errors : [...errors, forbidden(place, "`parameters.scope` is set to 'Cluster'")]
  }
  if (isAbsent(namespace)) return [...errors, required(place, "`parameters.scope` is set to 'Namespace'")]
  return [...errors, ...invalidEach(place, namespace, dnsLabel(asString(namespace)))]
}
