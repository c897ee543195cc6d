import { conditionOf } from '../../model/conditions.ts'
import { asJson, asNumber, asText, at, isJson } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const FLOW_CONTROL: KindTable = {
  'flowschemas.flowcontrol.apiserver.k8s.io': {
    columns: (flow, age) => {
      const dangling = conditionOf(flow, 'Dangling')?.['status']
      return [
        nameOf(flow),
        asText(at(flow, 'spec', 'priorityLevelConfiguration', 'name')),
        asNumber(at(flow, 'spec', 'matchingPrecedence')),
        asText(at(flow, 'spec', 'distinguisherMethod', 'type')) || '<none>',
        age(createdAt(flow)),
        asText(dangling) || '?',
      ]
    },
  },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': {
    columns: (level, age) => {
      const limited = asJson(at(level, 'spec', 'limited'))
      const queuing = at(limited, 'limitResponse', 'queuing')
      const queue = (field: string): unknown => (isJson(queuing) ? asNumber(queuing[field]) : '<none>')
      return [
        nameOf(level),
        asText(at(level, 'spec', 'type')),
        typeof limited['nominalConcurrencyShares'] === 'number' ? limited['nominalConcurrencyShares'] : '<none>',
        queue('queues'),
        queue('handSize'),
        queue('queueLengthLimit'),
        age(createdAt(level)),
      ]
    },
  },
}
