import { asJson, asJsons, asList, asText, at } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { warningsForIngressClass, validateIngress, validateClassAnnotation } from './ingress-validation.ts'

export const INGRESSES: KindTable = {
  'ingresses.networking.k8s.io': {
    columns: (ingress, age) => {
      const rules = asJsons(at(ingress, 'spec', 'rules'))
      const balanced = asJsons(at(ingress, 'status', 'loadBalancer', 'ingress'))
        .map(({ ip, hostname }) => asText(ip) || asText(hostname))
        .filter(Boolean)
      return [
        nameOf(ingress),
        asText(at(ingress, 'spec', 'ingressClassName')) || '<none>',
        hostsColumn(rules.map(({ host }) => asText(host)).filter(Boolean), rules.length),
        [...new Set(balanced.toSorted())].join(','),
        asList(at(ingress, 'spec', 'tls')).length > 0 ? '80, 443' : '80',
        age(createdAt(ingress)),
      ]
    },
    rules: {
      newStatus: { loadBalancer: {} },
      validate: (ingress) => validateIngress(asJson(ingress['spec'])),
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
