import { asJsonObject, asString, valueAtPath } from '@tenure/kube/model'

import { conditionOf } from '../../model/conditions.ts'
import { filled, withinField } from '../../model/json.ts'
import { invalidValue } from '../../schema/field-errors.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'

export const API_REGISTRATION: KindTable = {
  'apiservices.apiregistration.k8s.io': {
    columns: (service, age) => {
      const { namespace, name } = asJsonObject(valueAtPath(service, 'spec', 'service'))
      const available = conditionOf(service, 'Available')
      const isAvailable = available?.['status'] === 'True'
      const why = asString(available?.['reason'])
      const status = available
        ? isAvailable
          ? 'True'
          : `${asString(available['status'])}${why && ` (${why})`}`
        : 'Unknown'
      return [
        nameOf(service),
        name ? `${asString(namespace)}/${asString(name)}` : 'Local',
        status,
        age(createdAt(service)),
      ]
    },
    rules: {
      generation: false,
      defaults: (service) =>
        withinField(service, 'spec', (spec) => withinField(spec, 'service', (ref) => filled(ref, { port: 443 }))),
      validate: (service) => {
        const { group, version } = asJsonObject(service['spec'])
        const expected = `${asString(version)}.${asString(group)}`
        if (nameOf(service) === expected) return []
        return [
          invalidValue('metadata.name', nameOf(service), `must be \`spec.version+"."+spec.group\`: "${expected}"`),
        ]
      },
    },
  },
}
