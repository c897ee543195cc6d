import { asJson, at, withinField } from '../../model/json.ts'
import type { KindTable } from '../common/kind-table.ts'
import { adviseOnPods } from './pod/pod-warnings.ts'
import { containerCells, nameOf } from '../common/columns.ts'
import { defaultPodTemplate } from './pod/pod-defaults.ts'
import { formatLabels } from '../common/selectors.ts'
import { validatePodTemplate } from './pod/pod-validation.ts'

export const POD_TEMPLATES: KindTable = {
  podtemplates: {
    cells: (object) => [
      nameOf(object),
      ...containerCells(at(object, 'template', 'spec')),
      formatLabels(at(object, 'template', 'metadata', 'labels')),
    ],
    rules: {
      defaults: (object) => withinField(object, 'template', defaultPodTemplate),
      advise: adviseOnPods('template'),
      validate: (object) => validatePodTemplate(asJson(object['template']), 'template'),
      returnsDeletedObject: true,
    },
  },
}
