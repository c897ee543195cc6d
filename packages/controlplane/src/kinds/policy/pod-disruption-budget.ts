import type { LabelSelector } from '@tenure/kube'

import type { Json } from '../../model/json.ts'
import { asJson, asNumber, asText, at, isUnset } from '../../model/json.ts'
import { invalidStruct, notSupported } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateIntOrPercent, validateNotAbove100 } from '../common/int-or-percent.ts'
import type { KindTable } from '../common/kind-table.ts'
import { validateSelector } from '../common/selectors.ts'

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : asText(value) || 'N/A')

export const POLICY: KindTable = {
  'poddisruptionbudgets.policy': {
    columns: (budget, age) => {
      const { minAvailable, maxUnavailable } = asJson(budget['spec'])
      const allowed = asNumber(at(budget, 'status', 'disruptionsAllowed'))
      return [nameOf(budget), shown(minAvailable), shown(maxUnavailable), allowed, age(createdAt(budget))]
    },
    rules: {
      newStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      validate: (budget) => validateBudget(asJson(budget['spec'])),
    },
  },
}

function validateBudget(spec: Json): FieldError[] {
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
    errors.push(...validateIntOrPercent(value, `spec.${name}`), ...validateNotAbove100(value, `spec.${name}`))
  }
  errors.push(...validateSelector(selector as LabelSelector | undefined, 'spec.selector'))
  const policies = ['AlwaysAllow', 'IfHealthyBudget']
  if (!isUnset(policy) && !policies.includes(asText(policy))) {
    errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, policies))
  }
  return errors
}
