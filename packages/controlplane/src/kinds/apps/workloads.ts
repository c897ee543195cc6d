import type { FieldError } from '../../schema/types.ts'
import { adviseOnPods, adviseOnTemplate, isSameGeneration, templateAdvice } from '../core/pod/pod-warnings.ts'
import { containerCells, createdAt, nameOf } from '../common/columns.ts'
import { forbiddenField, invalidValue, notNegative, notSupportedStruct, required } from '../common/field-errors.ts'
import { validateIntOrPercent, validateNotAbove100, valueOfIntOrPercent } from '../common/int-or-percent.ts'
import type { Json } from '../../model/json.ts'
import {
  asJson,
  asJsons,
  asNumber,
  asText,
  at,
  filled,
  filledUnset,
  isJson,
  withField,
  withinField,
} from '../../model/json.ts'
import type { Cells, KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'
import { defaultPodTemplate } from '../core/pod/pod-defaults.ts'
import { validatePodTemplate } from '../core/pod/pod-validation.ts'
import {
  count,
  inSpec,
  REPLICAS,
  specOf,
  templateCells,
  validateAlwaysRestarts,
  validateSelectedTemplate,
  validateSelection,
} from '../common/pod-template.ts'
import { formatLabels, formatSelector } from '../common/selectors.ts'

/** Kinds that run pods from a template. */
export const WORKLOADS: KindTable = {
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
  replicationcontrollers: {
    scale: REPLICAS,
    cells: (object, age) => [
      ...replicaCells(object, age),
      ...templateCells(object),
      formatLabels(at(object, 'spec', 'selector')),
    ],
    rules: {
      newStatus: { replicas: 0 },
      defaults: defaultReplicationController,
      advise: adviseOnReplicationController,
      validate: validateReplicationController,
      validateChange: () => [],
      selectableFields: { 'status.replicas': (object) => String(asNumber(at(object, 'status', 'replicas'))) },
      defaultPropagation: 'Orphan',
    },
  },
  'deployments.apps': {
    scale: REPLICAS,
    cells: (object, age) => [
      nameOf(object),
      `${count(object, 'readyReplicas')}/${asNumber(at(object, 'spec', 'replicas'))}`,
      count(object, 'updatedReplicas'),
      count(object, 'availableReplicas'),
      age(createdAt(object)),
      ...templateCells(object),
      formatSelector(at(object, 'spec', 'selector')),
    ],
    rules: {
      defaults: inSpec(defaultDeployment),
      advise: adviseOnTemplate('spec', 'template'),
      validate: (object) => validateDeployment(specOf(object)),
      validateChange: (object, old) =>
        unchanged('spec.selector', at(object, 'spec', 'selector'), at(old, 'spec', 'selector')),
    },
  },
  'replicasets.apps': {
    scale: REPLICAS,
    cells: (object, age) => [
      ...replicaCells(object, age),
      ...templateCells(object),
      formatSelector(at(object, 'spec', 'selector')),
    ],
    rules: {
      newStatus: { replicas: 0 },
      advise: adviseOnTemplate('spec', 'template'),
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
        unchanged('spec.selector', at(object, 'spec', 'selector'), at(old, 'spec', 'selector')),
      selectableFields: { 'status.replicas': (object) => String(asNumber(at(object, 'status', 'replicas'))) },
    },
  },
  'controllerrevisions.apps': {
    cells: (object, age) => {
      const owner = asJsons(at(object, 'metadata', 'ownerReferences')).find(({ controller }) => controller === true)
      const [, group = ''] = asText(owner?.['apiVersion']).split('/').toReversed()
      const kind = asText(owner?.['kind']).toLowerCase()
      const name = owner ? `${kind}${group && `.${group}`}/${asText(owner['name'])}` : '<none>'
      return [nameOf(object), name, asNumber(object['revision']), age(createdAt(object))]
    },
    rules: {
      generation: false,
      validate: (object) => notNegative('revision', object['revision']),
      validateChange: (object, old) => unchanged('data', object['data'], old['data']),
    },
  },
}

function replicaCells(...[object, age]: [Json, Parameters<Cells>[1]]): unknown[] {
  const desired = asNumber(at(object, 'spec', 'replicas'))
  return [nameOf(object), desired, count(object, 'replicas'), count(object, 'readyReplicas'), age(createdAt(object))]
}

function defaultReplicationController(given: Json): Json {
  let object = withinField(given, 'spec', (spec) =>
    filled(withinField(spec, 'template', defaultPodTemplate), { replicas: 1 }),
  )
  const labels = at(object, 'spec', 'template', 'metadata', 'labels')
  if (!isJson(labels)) return object
  object = withinField(object, 'spec', (spec) => filled(spec, { selector: labels }))
  return withinField(object, 'metadata', (metadata) => filled(metadata, { labels }))
}

/** When it changes, the real server has the new template and the old one mixed up. */
function adviseOnReplicationController(object: Json, old: Json | undefined): readonly string[] {
  if (old && !isSameGeneration(object, old)) return templateAdvice(old, 'spec', 'template')
  return adviseOnTemplate('spec', 'template')(object, old)
}

function validateReplicationController(object: Json): FieldError[] {
  const spec = specOf(object)
  const selector = asJson(spec['selector'])
  const wrong = notNegative('spec.minReadySeconds', spec['minReadySeconds'])
  if (Object.keys(selector).length === 0) wrong.push(required('spec.selector'))
  wrong.push(...notNegative('spec.replicas', spec['replicas']))
  if (!isJson(spec['template'])) return [...wrong, required('spec.template')]
  const labels = asJson(at(spec, 'template', 'metadata', 'labels'))
  const matches = Object.entries(selector).every(([key, value]) => labels[key] === value)
  wrong.push(...validateSelectedTemplate(spec['template'], () => matches, 'spec.template'))
  return [...wrong, ...validateAlwaysRestarts(spec, 'ReplicationController')]
}

function defaultDeployment(given: Json): Json {
  let spec = withinField(given, 'template', defaultPodTemplate)
  spec = filled(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
  const strategy = filledUnset(asJson(spec['strategy']), { type: 'RollingUpdate' })
  if (strategy['type'] !== 'RollingUpdate') return withField(spec, 'strategy', strategy)
  const rollingUpdate = filled(asJson(strategy['rollingUpdate']), { maxUnavailable: '25%', maxSurge: '25%' })
  return withField(spec, 'strategy', withField(strategy, 'rollingUpdate', rollingUpdate))
}

function validateDeployment(spec: Json): FieldError[] {
  const wrong = [
    ...notNegative('spec.replicas', spec['replicas']),
    ...validateSelection(spec, 'Deployment', 'invalid label selector'),
    ...validateDeploymentStrategy(asJson(spec['strategy'])),
    ...notNegative('spec.minReadySeconds', spec['minReadySeconds']),
    ...notNegative('spec.revisionHistoryLimit', spec['revisionHistoryLimit']),
    ...notNegative('spec.progressDeadlineSeconds', spec['progressDeadlineSeconds']),
  ]
  const deadline = spec['progressDeadlineSeconds']
  if (typeof deadline === 'number' && deadline <= asNumber(spec['minReadySeconds'])) {
    wrong.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'))
  }
  return wrong
}

function validateDeploymentStrategy({ type, rollingUpdate }: Json): FieldError[] {
  const field = 'spec.strategy.rollingUpdate'
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'"
    return isJson(rollingUpdate) ? [forbiddenField(field, detail)] : []
  }
  if (type !== 'RollingUpdate') {
    const shown = { Type: type ?? '', RollingUpdate: rollingUpdate ?? null }
    return [notSupportedStruct('spec.strategy', shown, ['Recreate', 'RollingUpdate'])]
  }
  const { maxUnavailable, maxSurge } = asJson(rollingUpdate)
  const wrong = [
    ...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${field}.maxSurge`),
  ]
  if (valueOfIntOrPercent(maxUnavailable) === 0 && valueOfIntOrPercent(maxSurge) === 0) {
    wrong.push(invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...wrong, ...validateNotAbove100(maxUnavailable, `${field}.maxUnavailable`)]
}
