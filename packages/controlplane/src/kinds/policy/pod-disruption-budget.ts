import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asNumber, isUnset } from '../../model/json.ts'
import { invalidStruct, notSupported } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateIntOrPercent, validateNotAbove100 } from '../common/int-or-percent.ts'
import type { KindTable } from '../common/kind-table.ts'
import { validateSelector } from '../common/selectors.ts'

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : asString(value) || 'N/A')

export const POLICY: KindTable = {
  'poddisruptionbudgets.policy': {
    columns: (budget, age) => {
      const { minAvailable, maxUnavailable } = asJsonObject(budget['spec'])
      const allowed = asNumber(valueAtPath(budget, 'status', 'disruptionsAllowed'))
      return [nameOf(budget), shown(minAvailable), shown(maxUnavailable), allowed, age(createdAt(budget))]
    },
    rules: {
      newStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      validate: (budget) => validateBudget(asJsonObject(budget['spec'])),
    },
  },
}

function validateBudget(spec: JsonObject): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec
  const errors: FieldError[] = []
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: policy ?? null,
    }
    errors.push(invalidStruct('spec', shown, 'minAvailable and maxUnavailable cannot be both set'))
  }
  for (const [name, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (value === undefined) continue
    append(errors, validateIntOrPercent(value, `spec.${name}`), validateNotAbove100(value, `spec.${name}`))
  }
  append(errors, validateSelector(selector as LabelSelector | undefined, 'spec.selector'))
  const policies = ['AlwaysAllow', 'IfHealthyBudget']
  if (!isUnset(policy) && !policies.includes(asString(policy))) {
    errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, policies))
  }
  return errors
}
