import { asJson, asText, at, filled, isAbsent, isJson, withinField } from '../../model/json.ts'
import type { FieldError } from '../../schema/types.ts'
import type { Json } from '../../model/json.ts'
import type { KindTable } from '../common/kind-table.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { dnsLabel } from '../common/names.ts'
import { forbiddenField, invalidEach, notSupported, required, tooLong } from '../common/field-errors.ts'
import { unchanged } from '../common/labels.ts'
import { validateDomainPath } from '../common/domain-path.ts'
import { validateReference } from './ingress-validation.ts'

export const INGRESS_CLASSES: KindTable = {
  'ingressclasses.networking.k8s.io': {
    cells: (ingressClass, age) => {
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
      validate: validateClassOfIngresses,
      validateUpdate: (next, old) => [
        ...unchanged('spec.controller', at(next, 'spec', 'controller') ?? '', at(old, 'spec', 'controller')),
        ...validateClassOfIngresses(next),
      ],
    },
  },
}

const LONGEST_CONTROLLER = 250
const SCOPES = ['Cluster', 'Namespace']

/** Who serves the ingresses of a class, and where it is told how. */
function validateClassOfIngresses(object: Json): FieldError[] {
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
