import type { Json } from '../../model/json.ts'
import { asJson, asText, at } from '../../model/json.ts'
import { forbidden, invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const COORDINATION: KindTable = {
  'leases.coordination.k8s.io': {
    columns: (lease, age) => [nameOf(lease), asText(at(lease, 'spec', 'holderIdentity')), age(createdAt(lease))],
    rules: { generation: false, allowsCreateOnUpdate: true, validate: validateLease },
  },
}

function validateLease(lease: Json): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = asJson(lease['spec'])
  const errors: FieldError[] = []
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    errors.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    errors.push(invalidValue('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  }
  if (preferredHolder && !strategy) {
    errors.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
  }
  return errors
}
