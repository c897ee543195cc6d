import { asList, asText, at } from '../../model/json.ts'
import { createdAt, nameAndAge, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const RESOURCE: KindTable = {
  'deviceclasses.resource.k8s.io': { columns: nameAndAge, rules: { returnsDeletedObject: true } },
  'resourceclaims.resource.k8s.io': {
    columns: (claim, age) => {
      const states = []
      if (at(claim, 'metadata', 'deletionTimestamp') !== undefined) states.push('deleted')
      if (at(claim, 'status', 'allocation') === undefined) states.push('pending')
      else states.push('allocated', ...(asList(at(claim, 'status', 'reservedFor')).length > 0 ? ['reserved'] : []))
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
      asText(at(slice, 'spec', 'nodeName')) || '<unset>',
      asText(at(slice, 'spec', 'driver')),
      asText(at(slice, 'spec', 'pool', 'name')),
      age(createdAt(slice)),
    ],
    rules: { returnsDeletedObject: true },
  },
}
