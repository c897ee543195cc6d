import type { Json } from '../../model/json.ts'
import { asJson, asText, at } from '../../model/json.ts'
import { invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import type { KindTable } from '../common/kind-table.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { forbiddenField } from '../common/field-errors.ts'

export const COORDINATION: KindTable = {
  'leases.coordination.k8s.io': {
    cells: (lease, age) => [nameOf(lease), asText(at(lease, 'spec', 'holderIdentity')), age(createdAt(lease))],
    rules: { generation: false, allowsCreateOnUpdate: true, validate: validateLease },
  },
}

function validateLease(lease: Json): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = asJson(lease['spec'])
  const wrong: FieldError[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    wrong.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    wrong.push(invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  }
  if (preferredHolder && !strategy) {
    wrong.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  }
  return wrong
}
