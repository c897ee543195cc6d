import { valueAtPath } from '@tenure/kube/model'

import { specOf } from '../../model/custom-resource-definition.ts'
import { asNumber, filled, withinField } from '../../model/json.ts'
import { notNegative } from '../../schema/field-errors.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { REPLICAS, inSpec, replicaColumns, templateColumns, validateSelection } from '../common/pod-template.ts'
import { formatSelector } from '../common/selectors.ts'
import { defaultPodTemplate } from '../core/pod/pod-defaults.ts'
import { warningsForTemplate } from '../core/pod/pod-warnings.ts'

export const REPLICA_SETS: KindTable = {
  'replicasets.apps': {
    scale: REPLICAS,
    columns: (object, age) => [
      ...replicaColumns(object, age),
      ...templateColumns(object),
      formatSelector(valueAtPath(object, 'spec', 'selector')),
    ],
    rules: {
      newStatus: { replicas: 0 },
      warnings: warningsForTemplate('spec', 'template'),
      defaults: inSpec((spec) => filled(withinField(spec, 'template', defaultPodTemplate), { replicas: 1 })),
      validate: (object) => {
        const spec = specOf(object)
        return [
          ...notNegative('spec.replicas', spec['replicas']),
          ...notNegative('spec.minReadySeconds', spec['minReadySeconds']),
          ...validateSelection(spec, 'ReplicaSet', 'invalid label selector'),
        ]
      },
      validateChange: (object, old) =>
        unchanged('spec.selector', valueAtPath(object, 'spec', 'selector'), valueAtPath(old, 'spec', 'selector')),
      selectableFields: { 'status.replicas': (object) => String(asNumber(valueAtPath(object, 'status', 'replicas'))) },
    },
  },
}
