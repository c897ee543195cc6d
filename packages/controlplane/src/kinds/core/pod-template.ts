import { asJson, at, withinField } from '../../model/json.ts'
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
      ...containerColumns(at(object, 'template', 'spec')),
      formatLabels(at(object, 'template', 'metadata', 'labels')),
    ],
    rules: {
      defaults: (object) => withinField(object, 'template', defaultPodTemplate),
      warnings: warningsForPods('template'),
      validate: (object) => validatePodTemplate(asJson(object['template']), 'template'),
      returnsDeletedObject: true,
    },
  },
}
