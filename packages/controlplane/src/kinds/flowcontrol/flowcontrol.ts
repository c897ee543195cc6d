import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { conditionOf } from '../../model/conditions.ts'
import { asNumber } from '../../model/json.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const FLOW_CONTROL: KindTable = {
  'flowschemas.flowcontrol.apiserver.k8s.io': {
    columns: (flow, age) => {
      const dangling = conditionOf(flow, 'Dangling')?.['status']
      return [
        nameOf(flow),
        asString(valueAtPath(flow, 'spec', 'priorityLevelConfiguration', 'name')),
        asNumber(valueAtPath(flow, 'spec', 'matchingPrecedence')),
        asString(valueAtPath(flow, 'spec', 'distinguisherMethod', 'type')) || '<none>',
        age(createdAt(flow)),
        asString(dangling) || '?',
      ]
    },
  },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': {
    columns: (level, age) => {
      const limited = asJsonObject(valueAtPath(level, 'spec', 'limited'))
      const queuing = valueAtPath(limited, 'limitResponse', 'queuing')
      const queue = (field: string): unknown => (isJsonObject(queuing) ? asNumber(queuing[field]) : '<none>')
      return [
        nameOf(level),
        asString(valueAtPath(level, 'spec', 'type')),
        typeof limited['nominalConcurrencyShares'] === 'number' ? limited['nominalConcurrencyShares'] : '<none>',
        queue('queues'),
        queue('handSize'),
        queue('queueLengthLimit'),
        age(createdAt(level)),
      ]
    },
  },
}
