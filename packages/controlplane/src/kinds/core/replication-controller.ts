import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { specOf } from '../../model/custom-resource-definition.ts'
import { asNumber, filled, withinField } from '../../model/json.ts'
import { notNegative, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import type { KindTable } from '../common/kind-table.ts'
import {
  REPLICAS,
  replicaColumns,
  templateColumns,
  validateAlwaysRestarts,
  validateSelectedTemplate,
} from '../common/pod-template.ts'
import { formatLabels } from '../common/selectors.ts'
import { defaultPodTemplate } from './pod/pod-defaults.ts'
import { warningsForTemplate, isSameGeneration, templateWarnings } from './pod/pod-warnings.ts'

export const REPLICATION_CONTROLLERS: KindTable = {
  replicationcontrollers: {
    scale: REPLICAS,
    columns: (object, age) => [
      ...replicaColumns(object, age),
      ...templateColumns(object),
      formatLabels(valueAtPath(object, 'spec', 'selector')),
    ],
    rules: {
      newStatus: { replicas: 0 },
      defaults: defaultReplicationController,
      warnings: warningsForReplicationController,
      validate: validateReplicationController,
      validateChange: () => [],
      selectableFields: { 'status.replicas': (object) => String(asNumber(valueAtPath(object, 'status', 'replicas'))) },
      defaultPropagation: 'Orphan',
    },
  },
}

function defaultReplicationController(given: JsonObject): JsonObject {
  let object = withinField(given, 'spec', (spec) =>
    filled(withinField(spec, 'template', defaultPodTemplate), { replicas: 1 }),
  )
  const labels = valueAtPath(object, 'spec', 'template', 'metadata', 'labels')
  if (!isJsonObject(labels)) return object
  object = withinField(object, 'spec', (spec) => filled(spec, { selector: labels }))
  return withinField(object, 'metadata', (metadata) => filled(metadata, { labels }))
}

/** On update kube-apiserver warns of the old template instead of the new one. */
function warningsForReplicationController(object: JsonObject, old: JsonObject | undefined): readonly string[] {
  if (old && !isSameGeneration(object, old)) return templateWarnings(old, 'spec', 'template')
  return warningsForTemplate('spec', 'template')(object, old)
}

function validateReplicationController(object: JsonObject): FieldError[] {
  const spec = specOf(object)
  const selector = asJsonObject(spec['selector'])
  const errors = notNegative('spec.minReadySeconds', spec['minReadySeconds'])
  if (Object.keys(selector).length === 0) errors.push(required('spec.selector'))
  errors.push(...notNegative('spec.replicas', spec['replicas']))
  if (!isJsonObject(spec['template'])) return [...errors, required('spec.template')]
  const labels = asJsonObject(valueAtPath(spec, 'template', 'metadata', 'labels'))
  const matches = Object.entries(selector).every(([key, value]) => labels[key] === value)
  append(
    errors,
    validateSelectedTemplate(spec['template'], () => matches, 'spec.template'),
  )
  return [...errors, ...validateAlwaysRestarts(spec, 'ReplicationController')]
}
