import { asArray, asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { warningsForIngressClass, validateIngress, validateClassAnnotation } from './ingress-validation.ts'

export const INGRESSES: KindTable = {
  'ingresses.networking.k8s.io': {
    columns: (ingress, age) => {
      const rules = asJsonObjects(valueAtPath(ingress, 'spec', 'rules'))
      const balanced = asJsonObjects(valueAtPath(ingress, 'status', 'loadBalancer', 'ingress'))
        .map(({ ip, hostname }) => asString(ip) || asString(hostname))
        .filter(Boolean)
      return [
        nameOf(ingress),
        asString(valueAtPath(ingress, 'spec', 'ingressClassName')) || '<none>',
        hostsColumn(rules.map(({ host }) => asString(host)).filter(Boolean), rules.length),
        [...new Set(balanced.toSorted())].join(','),
        asArray(valueAtPath(ingress, 'spec', 'tls')).length > 0 ? '80, 443' : '80',
        age(createdAt(ingress)),
      ]
    },
    rules: {
      newStatus: { loadBalancer: {} },
      validate: (ingress) => validateIngress(asJsonObject(ingress['spec'])),
      warnings: warningsForIngressClass,
      validateNew: validateClassAnnotation,
      validateChange: () => [],
    },
  },
}

function hostsColumn(hosts: readonly string[], rules: number): string {
  if (hosts.length === 0) return '*'
  const list = hosts.slice(0, 3).join(',')
  return hosts.length > 3 ? `${list} + ${rules - 3} more...` : list
}
