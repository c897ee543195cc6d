import { hasCondition } from '../../model/conditions.ts'
import type { Json } from '../../model/json.ts'
import {
  asJson,
  asJsons,
  asNumber,
  asText,
  at,
  filled,
  filledUnset,
  isAbsent,
  isJson,
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
import { validateCronJob } from './cron-job-validation.ts'
import { validateJobChange } from './job-changes.ts'
import { NAME, UID, validateJob } from './job-validation.ts'

const MAX_INT32 = 2_147_483_647

const TRACKED_COMPLETIONS = 100_000
const TRACKED_PARALLELISM = 10_000
const TRACKING_WARNING =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail'

/** Warnings for a Job, or for the Job template at `path`. */
const warningsForJob =
  (...path: readonly string[]) =>
  (object: Json, old: Json | undefined): readonly string[] => {
    if (old && isSameGeneration(object, old)) return []
    const { completionMode, completions: all, parallelism } = asJson(at(object, ...path))
    const isMuch = asNumber(all) > TRACKED_COMPLETIONS && asNumber(parallelism) > TRACKED_PARALLELISM
    return [
      ...(old ? [] : warningsForName(object)),
      ...(completionMode === 'Indexed' && isMuch ? [`${path.join('.')}: ${TRACKING_WARNING}`] : []),
      ...templateWarnings(object, ...path, 'template'),
    ]
  }

/** Kinds of the batch group. */
export const BATCH: KindTable = {
  'jobs.batch': {
    columns: (job, age, now) => [
      nameOf(job),
      jobStatus(job),
      completions(job),
      jobDuration(job, now),
      age(createdAt(job)),
      ...containerColumns(at(job, 'spec', 'template', 'spec')),
      formatSelector(at(job, 'spec', 'selector')),
    ],
    rules: {
      defaults: defaultJob,
      prepareForCreate: generateSelector,
      warnings: warningsForJob('spec'),
      validate: validateJob,
      validateChange: validateJobChange,
      selectableFields: { 'status.successful': (job) => String(asNumber(at(job, 'status', 'succeeded'))) },
      // The default of batch/v1; kubectl asks for Background.
      defaultPropagation: 'Orphan',
    },
  },
  'cronjobs.batch': {
    columns: (cron, age) => [
      nameOf(cron),
      asText(at(cron, 'spec', 'schedule')),
      asText(at(cron, 'spec', 'timeZone')) || '<none>',
      suspended(at(cron, 'spec', 'suspend')),
      asJsons(at(cron, 'status', 'active')).length,
      at(cron, 'status', 'lastScheduleTime') === undefined ? '<none>' : age(at(cron, 'status', 'lastScheduleTime')),
      age(createdAt(cron)),
      ...containerColumns(at(cron, 'spec', 'jobTemplate', 'spec', 'template', 'spec')),
      formatSelector(at(cron, 'spec', 'jobTemplate', 'spec', 'selector')),
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

function jobStatus(job: Json): string {
  if (hasCondition(job, 'Complete')) return 'Complete'
  if (hasCondition(job, 'Failed')) return 'Failed'
  if (isBeingDeleted(job)) return 'Terminating'
  const other = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(job, type))
  return other ?? 'Running'
}

function completions(job: Json): string {
  const succeeded = asNumber(at(job, 'status', 'succeeded'))
  const wanted = at(job, 'spec', 'completions')
  if (typeof wanted === 'number') return `${succeeded}/${wanted}`
  const parallelism = asNumber(at(job, 'spec', 'parallelism'))
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: Json, now: number): string {
  const { startTime, completionTime } = asJson(job['status'])
  if (typeof startTime !== 'string') return ''
  const end = typeof completionTime === 'string' ? Date.parse(completionTime) : now
  return humanDuration(end - Date.parse(startTime))
}

function defaultJob(given: Json): Json {
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
  const labels = at(job, 'spec', 'template', 'metadata', 'labels')
  return isJson(labels) ? withinField(job, 'metadata', (metadata) => filled(metadata, { labels })) : job
}

/** Defaults that Jobs and Job templates share. */
function defaultJobSpec(spec: Json): Json {
  return withinField(withinField(spec, 'template', defaultPodTemplate), 'podFailurePolicy', (policy) =>
    withinItems(policy, 'rules', (rule) =>
      withinItems(rule, 'onPodConditions', (condition) => filledUnset(condition, { status: 'True' })),
    ),
  )
}

const MAX_LABEL_LENGTH = 63

/** Generates the selector of a Job from its uid, unless `manualSelector` is set, and labels the Job as its template. */
function generateSelector(job: Json): Json {
  const metadata = asJson(job['metadata'])
  if (at(job, 'spec', 'manualSelector') === true) return job
  const own = {
    'job-name': metadata['name'],
    [NAME]: metadata['name'],
    'controller-uid': metadata['uid'],
    [UID]: metadata['uid'],
  }
  const template = asJson(at(job, 'spec', 'template'))
  const templateMetadata = asJson(template['metadata'])
  const hadLabels = Object.keys(asJson(templateMetadata['labels'])).length > 0
  const labels = { ...own, ...asJson(templateMetadata['labels']) }
  const selector = asJson(at(job, 'spec', 'selector'))
  const matchLabels = { [UID]: metadata['uid'], ...asJson(selector['matchLabels']) }
  // A Job without labels of its own gets the labels of its template, including the generated ones.
  const isShared = !hadLabels
    ? isAbsent(metadata['labels'])
    : isSemanticallyEqual(metadata['labels'], templateMetadata['labels'])
  // If the name is too long for a label, kube-apiserver reports only the labels of the template.
  const isLabel = asText(metadata['name']).length <= MAX_LABEL_LENGTH
  return {
    ...job,
    metadata: isShared && isLabel ? { ...metadata, labels } : metadata,
    spec: {
      ...asJson(job['spec']),
      template: { ...template, metadata: { ...templateMetadata, labels } },
      selector: { ...selector, matchLabels },
    },
  }
}

function defaultCronJob(given: Json): Json {
  return withinField(given, 'spec', (spec) => {
    const result = withinField(spec, 'jobTemplate', (template) => withinField(template, 'spec', defaultJobSpec))
    return filled(filledUnset(result, { concurrencyPolicy: 'Allow' }), {
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    })
  })
}
