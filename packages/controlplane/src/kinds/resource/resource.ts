import { asArray, asString, valueAtPath } from '@tenure/kube/model'

import { createdAt, nameAndAge, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const RESOURCE: KindTable = {
  'deviceclasses.resource.k8s.io': { columns: nameAndAge, rules: { returnsDeletedObject: true } },
  'resourceclaims.resource.k8s.io': {
    columns: (claim, age) => {
      const states = []
      if (valueAtPath(claim, 'metadata', 'deletionTimestamp') !== undefined) states.push('deleted')
      if (valueAtPath(claim, 'status', 'allocation') === undefined) states.push('pending')
      else
        states.push(
          'allocated',
          ...(asArray(valueAtPath(claim, 'status', 'reservedFor')).length > 0 ? ['reserved'] : []),
        )
      return [nameOf(claim), states.join(','), age(createdAt(claim))]
    },
    rules: { generation: false, returnsDeletedObject: true },
  },
  'resourceclaimtemplates.resource.k8s.io': {
    columns: nameAndAge,
    rules: { generation: false, returnsDeletedObject: true },
  },
  'resourceslices.resource.k8s.io': {
    columns: (slice, age) => [
      nameOf(slice),
      asString(valueAtPath(slice, 'spec', 'nodeName')) || '<unset>',
      asString(valueAtPath(slice, 'spec', 'driver')),
      asString(valueAtPath(slice, 'spec', 'pool', 'name')),
      age(createdAt(slice)),
    ],
    rules: { returnsDeletedObject: true },
  },
}
