import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { cronError } from '../../cron/cron-expression.ts'
import { isTimeZone } from '../../cron/time-zone.ts'
import { append } from '../../model/append.ts'
import { invalidStruct, invalidValue, notNegative, notSupported, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { nameOf } from '../common/columns.ts'
import { oneOf } from '../core/pod/pod-validation.ts'
import { validateJobSpec } from './job-validation.ts'

export function validateCronJob(cron: JsonObject): FieldError[] {
  const spec = asJsonObject(cron['spec'])
  const { schedule, timeZone, startingDeadlineSeconds, concurrencyPolicy } = spec
  const errors: FieldError[] = []
  const text = asString(schedule)
  if (!text) errors.push(required('spec.schedule'))
  else {
    const error = cronError(text)
    if (error !== undefined) errors.push(invalidValue('spec.schedule', text, error))
    if (text.includes('TZ')) {
      const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
      errors.push(invalidValue('spec.schedule', text, detail))
    }
  }
  errors.push(...notNegative('spec.startingDeadlineSeconds', startingDeadlineSeconds))
  if (typeof timeZone === 'string') append(errors, validateTimeZone(timeZone))
  errors.push(...oneOf(concurrencyPolicy, 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']))
  const job = asJsonObject(valueAtPath(spec, 'jobTemplate', 'spec'))
  append(errors, validateJobSpec(job, 'spec.jobTemplate.spec', false))
  if (isJsonObject(job['selector'])) {
    errors.push(invalidStruct('spec.jobTemplate.spec.selector', job['selector'], '`selector` will be auto-generated'))
  }
  if (job['manualSelector'] === true) {
    errors.push(notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']))
  }
  errors.push(...notNegative('spec.successfulJobsHistoryLimit', spec['successfulJobsHistoryLimit']))
  errors.push(...notNegative('spec.failedJobsHistoryLimit', spec['failedJobsHistoryLimit']))
  const name = nameOf(cron)
  if (name.length > 52) errors.push(invalidValue('metadata.name', name, 'must be no more than 52 characters'))
  return errors
}

function validateTimeZone(zone: string): FieldError[] {
  const invalid = (detail: string): FieldError => invalidValue('spec.timeZone', zone, detail)
  if (zone === '') return [invalid('timeZone must be nil or non-empty string')]
  // `Local` differs between machines.
  const local = invalid('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  return [
    ...(zone.toLowerCase() === 'local' ? [local] : []),
    ...(zone === 'Local' || isTimeZone(zone) ? [] : [invalid(`unknown time zone ${zone}`)]),
  ]
}
