import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { forbidden, invalidValue } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const COORDINATION: KindTable = {
  'leases.coordination.k8s.io': {
    columns: (lease, age) => [
      nameOf(lease),
      asString(valueAtPath(lease, 'spec', 'holderIdentity')),
      age(createdAt(lease)),
    ],
    rules: { generation: false, allowsCreateOnUpdate: true, validate: validateLease },
  },
}

function validateLease(lease: JsonObject): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = asJsonObject(lease['spec'])
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
