import type { JsonObject } from '@tenure/kube/model'
import { asString, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, filled, filledUnset, withinField } from '../../model/json.ts'
import { containerColumns, createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { formatSelector } from '../common/selectors.ts'
import { validateCronJob } from './cron-job-validation.ts'
import { defaultJobSpec, warningsForJob } from './job.ts'

export const CRON_JOBS: KindTable = {
  'cronjobs.batch': {
    columns: (cron, age) => [
      nameOf(cron),
      asString(valueAtPath(cron, 'spec', 'schedule')),
      asString(valueAtPath(cron, 'spec', 'timeZone')) || '<none>',
      suspended(valueAtPath(cron, 'spec', 'suspend')),
      asJsonObjects(valueAtPath(cron, 'status', 'active')).length,
      valueAtPath(cron, 'status', 'lastScheduleTime') === undefined
        ? '<none>'
        : age(valueAtPath(cron, 'status', 'lastScheduleTime')),
      age(createdAt(cron)),
      ...containerColumns(valueAtPath(cron, 'spec', 'jobTemplate', 'spec', 'template', 'spec')),
      formatSelector(valueAtPath(cron, 'spec', 'jobTemplate', 'spec', 'selector')),
    ],
    rules: {
      defaults: defaultCronJob,
      warnings: warningsForJob('spec', 'jobTemplate', 'spec'),
      validate: validateCronJob,
      validateChange: () => [],
    },
  },
}

const suspended = (value: unknown): string => (value === undefined ? '<unset>' : value === true ? 'True' : 'False')

function defaultCronJob(given: JsonObject): JsonObject {
  return withinField(given, 'spec', (spec) => {
    const result = withinField(spec, 'jobTemplate', (template) => withinField(template, 'spec', defaultJobSpec))
    return filled(filledUnset(result, { concurrencyPolicy: 'Allow' }), {
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    })
  })
}
