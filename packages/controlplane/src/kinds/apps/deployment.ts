import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { asNumber, filled, filledUnset, withField, withinField } from '../../model/json.ts'
import { forbidden, invalidValue, notNegative, notSupportedStruct } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateIntOrPercent, validateNotAbove100, valueOfIntOrPercent } from '../common/int-or-percent.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { REPLICAS, count, inSpec, specOf, templateColumns, validateSelection } from '../common/pod-template.ts'
import { formatSelector } from '../common/selectors.ts'
import { defaultPodTemplate } from '../core/pod/pod-defaults.ts'
import { warningsForTemplate } from '../core/pod/pod-warnings.ts'

export const DEPLOYMENTS: KindTable = {
  'deployments.apps': {
    scale: REPLICAS,
    columns: (object, age) => [
      nameOf(object),
      `${count(object, 'readyReplicas')}/${asNumber(valueAtPath(object, 'spec', 'replicas'))}`,
      count(object, 'updatedReplicas'),
      count(object, 'availableReplicas'),
      age(createdAt(object)),
      ...templateColumns(object),
      formatSelector(valueAtPath(object, 'spec', 'selector')),
    ],
    rules: {
      defaults: inSpec(defaultDeployment),
      warnings: warningsForTemplate('spec', 'template'),
      // Annotations are copied to the ReplicaSets, so a change of them is a change for the controller.
      generation: (object) => [valueAtPath(object, 'spec'), object.metadata?.annotations ?? {}],
      validate: (object) => validateDeployment(specOf(object)),
      validateChange: (object, old) =>
        unchanged('spec.selector', valueAtPath(object, 'spec', 'selector'), valueAtPath(old, 'spec', 'selector')),
    },
  },
}

function defaultDeployment(given: JsonObject): JsonObject {
  let spec = withinField(given, 'template', defaultPodTemplate)
  spec = filled(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
  const strategy = filledUnset(asJsonObject(spec['strategy']), { type: 'RollingUpdate' })
  if (strategy['type'] !== 'RollingUpdate') return withField(spec, 'strategy', strategy)
  const rollingUpdate = filled(asJsonObject(strategy['rollingUpdate']), { maxUnavailable: '25%', maxSurge: '25%' })
  return withField(spec, 'strategy', withField(strategy, 'rollingUpdate', rollingUpdate))
}

function validateDeployment(spec: JsonObject): FieldError[] {
  const errors = [
    ...notNegative('spec.replicas', spec['replicas']),
    ...validateSelection(spec, 'Deployment', 'invalid label selector'),
    ...validateDeploymentStrategy(asJsonObject(spec['strategy'])),
    ...notNegative('spec.minReadySeconds', spec['minReadySeconds']),
    ...notNegative('spec.revisionHistoryLimit', spec['revisionHistoryLimit']),
    ...notNegative('spec.progressDeadlineSeconds', spec['progressDeadlineSeconds']),
  ]
  const deadline = spec['progressDeadlineSeconds']
  if (typeof deadline === 'number' && deadline <= asNumber(spec['minReadySeconds'])) {
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'))
  }
  return errors
}

function validateDeploymentStrategy({ type, rollingUpdate }: JsonObject): FieldError[] {
  const field = 'spec.strategy.rollingUpdate'
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'"
    return isJsonObject(rollingUpdate) ? [forbidden(field, detail)] : []
  }
  if (type !== 'RollingUpdate') {
    const shown = { Type: type ?? '', RollingUpdate: rollingUpdate ?? null }
    return [notSupportedStruct('spec.strategy', shown, ['Recreate', 'RollingUpdate'])]
  }
  const { maxUnavailable, maxSurge } = asJsonObject(rollingUpdate)
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${field}.maxSurge`),
  ]
  if (valueOfIntOrPercent(maxUnavailable) === 0 && valueOfIntOrPercent(maxSurge) === 0) {
    errors.push(invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...errors, ...validateNotAbove100(maxUnavailable, `${field}.maxUnavailable`)]
}
