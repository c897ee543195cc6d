import { asJsonObject, valueAtPath } from '@tenure/kube/model'

import { withinField } from '../../model/json.ts'
import { containerColumns, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { formatLabels } from '../common/selectors.ts'
import { defaultPodTemplate } from './pod/pod-defaults.ts'
import { validatePodTemplate } from './pod/pod-validation.ts'
import { warningsForPods } from './pod/pod-warnings.ts'

export const POD_TEMPLATES: KindTable = {
  podtemplates: {
    columns: (object) => [
      nameOf(object),
      ...containerColumns(valueAtPath(object, 'template', 'spec')),
      formatLabels(valueAtPath(object, 'template', 'metadata', 'labels')),
    ],
    rules: {
      defaults: (object) => withinField(object, 'template', defaultPodTemplate),
      warnings: warningsForPods('template'),
      validate: (object) => validatePodTemplate(asJsonObject(object['template']), 'template'),
      returnsDeletedObject: true,
    },
  },
}
