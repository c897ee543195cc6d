import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { filled, filledUnset, isSemanticallyEqual, withField, withinField } from '../../model/json.ts'
import { invalidValue, notNegative, notSupportedStruct, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { validateIntOrPercent, validateNotAbove100, valueOfIntOrPercent } from '../common/int-or-percent.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import {
  count,
  inSpec,
  SELECTOR_MISMATCH,
  selectorOf,
  specOf,
  templateColumns,
  validateAlwaysRestarts,
} from '../common/pod-template.ts'
import { formatLabels, formatSelector, isEmptySelector, matcherOf, validateSelector } from '../common/selectors.ts'
import { defaultPodTemplate } from '../core/pod/pod-defaults.ts'
import { validatePodTemplate } from '../core/pod/pod-validation.ts'
import { warningsForDaemonSet } from '../core/pod/pod-warnings.ts'

export const DAEMON_SETS: KindTable = {
  'daemonsets.apps': {
    columns: (object, age) => [
      nameOf(object),
      ...[
        'desiredNumberScheduled',
        'currentNumberScheduled',
        'numberReady',
        'updatedNumberScheduled',
        'numberAvailable',
      ].map((field) => count(object, field)),
      formatLabels(valueAtPath(object, 'spec', 'template', 'spec', 'nodeSelector')),
      age(createdAt(object)),
      ...templateColumns(object),
      formatSelector(valueAtPath(object, 'spec', 'selector')),
    ],
    rules: {
      newStatus: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
      // `templateGeneration` of extensions/v1beta1 is kept as an annotation and defaulted when decoded.
      defaults: (object) =>
        withTemplateGeneration(
          inSpec(defaultDaemonSet)(object),
          valueAtPath(object, 'metadata', 'annotations', TEMPLATE_GENERATION) ?? 0,
        ),
      prepareForCreate: (object) => withTemplateGeneration(object, 1),
      prepareForUpdate: (object, old) => {
        const before = Number(valueAtPath(old, 'metadata', 'annotations', TEMPLATE_GENERATION) ?? 1)
        const isSame = isSemanticallyEqual(
          valueAtPath(object, 'spec', 'template'),
          valueAtPath(old, 'spec', 'template'),
        )
        return withTemplateGeneration(object, isSame ? before : before + 1)
      },
      warnings: warningsForDaemonSet,
      validate: validateDaemonSet,
      validateUpdate: (object, old) => [
        ...unchanged('spec.selector', valueAtPath(object, 'spec', 'selector'), valueAtPath(old, 'spec', 'selector')),
        ...validateDaemonSet(object),
      ],
    },
  },
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

function withTemplateGeneration(object: JsonObject, generation: unknown): JsonObject {
  return withinField(object, 'metadata', (metadata) =>
    withField(metadata, 'annotations', {
      ...asJsonObject(metadata['annotations']),
      [TEMPLATE_GENERATION]: String(generation),
    }),
  )
}

function defaultDaemonSet(given: JsonObject): JsonObject {
  const spec = filled(withinField(given, 'template', defaultPodTemplate), { revisionHistoryLimit: 10 })
  const strategy = filledUnset(asJsonObject(spec['updateStrategy']), { type: 'RollingUpdate' })
  if (strategy['type'] !== 'RollingUpdate') return withField(spec, 'updateStrategy', strategy)
  const rollingUpdate = filled(asJsonObject(strategy['rollingUpdate']), { maxUnavailable: 1, maxSurge: 0 })
  return withField(spec, 'updateStrategy', withField(strategy, 'rollingUpdate', rollingUpdate))
}

function validateDaemonSet(object: JsonObject): FieldError[] {
  const spec = specOf(object)
  const selector = selectorOf(spec)
  const template = asJsonObject(spec['template'])
  const errors = validateSelector(selector, 'spec.selector')
  const labels = valueAtPath(template, 'metadata', 'labels')
  if (matcherOf(selector)?.(labels) === false) {
    errors.push(invalidValue('spec.template.metadata.labels', labels ?? null, SELECTOR_MISMATCH))
  }
  if (selector && isEmptySelector(selector)) {
    errors.push(invalidValue('spec.selector', selector, 'empty selector is invalid for daemonset'))
  }
  append(errors, validatePodTemplate(template, 'spec.template'), validateAlwaysRestarts(spec, 'DaemonSet'))
  errors.push(...notNegative('spec.minReadySeconds', spec['minReadySeconds']))
  append(errors, validateDaemonSetStrategy(asJsonObject(spec['updateStrategy'])))
  return [...errors, ...notNegative('spec.revisionHistoryLimit', spec['revisionHistoryLimit'])]
}

function validateDaemonSetStrategy({ type, rollingUpdate }: JsonObject): FieldError[] {
  if (type === 'OnDelete') return []
  const field = 'spec.updateStrategy'
  const { maxUnavailable, maxSurge } = asJsonObject(rollingUpdate)
  if (type !== 'RollingUpdate') {
    const update = isJsonObject(rollingUpdate) ? { MaxUnavailable: maxUnavailable ?? 0, MaxSurge: maxSurge ?? 0 } : null
    return [notSupportedStruct(field, { Type: type ?? '', RollingUpdate: update }, ['RollingUpdate', 'OnDelete'])]
  }
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...validateNotAbove100(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${field}.rollingUpdate.maxSurge`),
    ...validateNotAbove100(maxSurge, `${field}.rollingUpdate.maxSurge`),
  ]
  const [unavailable, surge] = [valueOfIntOrPercent(maxUnavailable), valueOfIntOrPercent(maxSurge)]
  if (unavailable > 0 && surge > 0) {
    const detail = 'may not be set when maxUnavailable is non-zero'
    errors.push(invalidValue(`${field}.rollingUpdate.maxSurge`, maxSurge, detail))
  } else if (unavailable === 0 && surge === 0) {
    errors.push(required(`${field}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  }
  return errors
}
