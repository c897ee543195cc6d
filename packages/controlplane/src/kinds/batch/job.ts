import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { hasCondition } from '../../model/conditions.ts'
import {
  asNumber,
  filled,
  filledUnset,
  isAbsent,
  isSemanticallyEqual,
  withinField,
  withinItems,
} from '../../model/json.ts'
import { humanDuration } from '../../printing/age.ts'
import { containerColumns, createdAt, isBeingDeleted, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { formatSelector } from '../common/selectors.ts'
import { defaultPodTemplate } from '../core/pod/pod-defaults.ts'
import { warningsForName, isSameGeneration, templateWarnings } from '../core/pod/pod-warnings.ts'
import { validateJobChange } from './job-changes.ts'
import { JOB_NAME_LABEL, CONTROLLER_UID_LABEL, validateJob } from './job-validation.ts'

const MAX_INT32 = 2_147_483_647

/** Above both, Kubernetes may not track all completed indexes. */
const TRACKED_COMPLETIONS = 100_000
const TRACKED_PARALLELISM = 10_000
const TRACKING_WARNING =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail'

/** Warnings for a Job, or for the Job template at `path`. */
export const warningsForJob =
  (...path: readonly string[]) =>
  (object: JsonObject, old: JsonObject | undefined): readonly string[] => {
    if (old && isSameGeneration(object, old)) return []
    const { completionMode, completions: all, parallelism } = asJsonObject(valueAtPath(object, ...path))
    const isUntracked = asNumber(all) > TRACKED_COMPLETIONS && asNumber(parallelism) > TRACKED_PARALLELISM
    return [
      ...(old ? [] : warningsForName(object)),
      ...(completionMode === 'Indexed' && isUntracked ? [`${path.join('.')}: ${TRACKING_WARNING}`] : []),
      ...templateWarnings(object, ...path, 'template'),
    ]
  }

export const JOBS: KindTable = {
  'jobs.batch': {
    columns: (job, age, now) => [
      nameOf(job),
      jobStatus(job),
      completions(job),
      jobDuration(job, now),
      age(createdAt(job)),
      ...containerColumns(valueAtPath(job, 'spec', 'template', 'spec')),
      formatSelector(valueAtPath(job, 'spec', 'selector')),
    ],
    rules: {
      defaults: defaultJob,
      prepareForCreate: generateSelector,
      warnings: warningsForJob('spec'),
      validate: validateJob,
      validateChange: validateJobChange,
      selectableFields: { 'status.successful': (job) => String(asNumber(valueAtPath(job, 'status', 'succeeded'))) },
      // The default of batch/v1; kubectl asks for Background.
      defaultPropagation: 'Orphan',
    },
  },
}

function jobStatus(job: JsonObject): string {
  if (hasCondition(job, 'Complete')) return 'Complete'
  if (hasCondition(job, 'Failed')) return 'Failed'
  if (isBeingDeleted(job)) return 'Terminating'
  const other = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(job, type))
  return other ?? 'Running'
}

function completions(job: JsonObject): string {
  const succeeded = asNumber(valueAtPath(job, 'status', 'succeeded'))
  const wanted = valueAtPath(job, 'spec', 'completions')
  if (typeof wanted === 'number') return `${succeeded}/${wanted}`
  const parallelism = asNumber(valueAtPath(job, 'spec', 'parallelism'))
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: JsonObject, now: number): string {
  const { startTime, completionTime } = asJsonObject(job['status'])
  if (typeof startTime !== 'string') return ''
  const end = typeof completionTime === 'string' ? Date.parse(completionTime) : now
  return humanDuration(end - Date.parse(startTime))
}

function defaultJob(given: JsonObject): JsonObject {
  const job = withinField(given, 'spec', (spec) => {
    let result = defaultJobSpec(spec)
    if (isAbsent(result['completions']) && isAbsent(result['parallelism'])) {
      result = { ...result, completions: 1, parallelism: 1 }
    }
    return filled(result, {
      parallelism: 1,
      backoffLimit: isAbsent(result['backoffLimitPerIndex']) ? 6 : MAX_INT32,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: isAbsent(result['podFailurePolicy']) ? 'TerminatingOrFailed' : 'Failed',
      manualSelector: false,
    })
  })
  const labels = valueAtPath(job, 'spec', 'template', 'metadata', 'labels')
  return isJsonObject(labels) ? withinField(job, 'metadata', (metadata) => filled(metadata, { labels })) : job
}

/** Defaults that Jobs and Job templates share. */
export function defaultJobSpec(spec: JsonObject): JsonObject {
  return withinField(withinField(spec, 'template', defaultPodTemplate), 'podFailurePolicy', (policy) =>
    withinItems(policy, 'rules', (rule) =>
      withinItems(rule, 'onPodConditions', (condition) => filledUnset(condition, { status: 'True' })),
    ),
  )
}

const MAX_LABEL_LENGTH = 63

/** Generates the selector of a Job from its uid, unless `manualSelector` is set, and labels the Job as its template. */
function generateSelector(job: JsonObject): JsonObject {
  const metadata = asJsonObject(job['metadata'])
  if (valueAtPath(job, 'spec', 'manualSelector') === true) return job
  const own = {
    'job-name': metadata['name'],
    [JOB_NAME_LABEL]: metadata['name'],
    'controller-uid': metadata['uid'],
    [CONTROLLER_UID_LABEL]: metadata['uid'],
  }
  const template = asJsonObject(valueAtPath(job, 'spec', 'template'))
  const templateMetadata = asJsonObject(template['metadata'])
  const hadLabels = Object.keys(asJsonObject(templateMetadata['labels'])).length > 0
  const labels = { ...own, ...asJsonObject(templateMetadata['labels']) }
  const selector = asJsonObject(valueAtPath(job, 'spec', 'selector'))
  const matchLabels = { [CONTROLLER_UID_LABEL]: metadata['uid'], ...asJsonObject(selector['matchLabels']) }
  // A Job without labels of its own gets the labels of its template, including the generated ones.
  const isShared = !hadLabels
    ? isAbsent(metadata['labels'])
    : isSemanticallyEqual(metadata['labels'], templateMetadata['labels'])
  // If the name is too long for a label, kube-apiserver reports only the labels of the template.
  const isLabel = asString(metadata['name']).length <= MAX_LABEL_LENGTH
  return {
    ...job,
    metadata: isShared && isLabel ? { ...metadata, labels } : metadata,
    spec: {
      ...asJsonObject(job['spec']),
      template: { ...template, metadata: { ...templateMetadata, labels } },
      selector: { ...selector, matchLabels },
    },
  }
}
