import { asArray, asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { INGRESS_CLASSES } from './ingress-class.ts'
import { INGRESSES } from './ingress.ts'
import { NETWORK_POLICIES } from './network-policy.ts'

/** Kinds of networking.k8s.io. */
export const NETWORKING: KindTable = {
  ...INGRESSES,
  ...INGRESS_CLASSES,
  ...NETWORK_POLICIES,
  'servicecidrs.networking.k8s.io': {
    columns: (cidr, age) => [
      nameOf(cidr),
      asArray(valueAtPath(cidr, 'spec', 'cidrs'))
        .map(asString)
        .join(','),
      age(createdAt(cidr)),
    ],
  },
  'ipaddresses.networking.k8s.io': {
    columns: (address) => {
      const { resource, group, namespace, name } = asJsonObject(valueAtPath(address, 'spec', 'parentRef'))
      const kind = group ? `${asString(resource)}.${asString(group)}` : asString(resource)
      return [nameOf(address), [kind, namespace, name].filter(Boolean).map(asString).join('/')]
    },
  },
}
