import type { KubeObject } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects, asNumber, filled, withField, withinField } from '../../model/json.ts'
import type { Conversion } from '../../registry/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { ColumnValues, KindTable } from '../common/kind-table.ts'
import { validateAutoscaler } from './autoscaler-validation.ts'

const CPU = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
}
const SCALE_UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const SCALE_DOWN = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }

function defaultSpec(given: JsonObject): JsonObject {
  let spec = filled(given, { minReplicas: 1 })
  if (asJsonObjects(spec['metrics']).length === 0) spec = withField(spec, 'metrics', [CPU])
  return withinField(spec, 'behavior', (behavior) => ({
    ...behavior,
    scaleUp: filled(asJsonObject(behavior['scaleUp']), SCALE_UP),
    scaleDown: filled(asJsonObject(behavior['scaleDown']), SCALE_DOWN),
  }))
}

const columns: ColumnValues = (object, age) => {
  const spec = asJsonObject(object['spec'])
  return [
    nameOf(object),
    `${asString(valueAtPath(spec, 'scaleTargetRef', 'kind'))}/${asString(valueAtPath(spec, 'scaleTargetRef', 'name'))}`,
    metricsColumn(asJsonObjects(spec['metrics']), asJsonObjects(valueAtPath(object, 'status', 'currentMetrics'))),
    typeof spec['minReplicas'] === 'number' ? String(spec['minReplicas']) : '<unset>',
    asNumber(spec['maxReplicas']),
    asNumber(valueAtPath(object, 'status', 'currentReplicas')),
    age(createdAt(object)),
  ]
}

/** The field that holds the source of a metric, by metric type. */
const SOURCE_FIELDS = new Map([
  ['External', 'external'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
])

const percent = (value: unknown, none: string): string => (typeof value === 'number' ? `${value}%` : none)

function metricsColumn(metrics: readonly JsonObject[], current: readonly JsonObject[]): string {
  if (metrics.length === 0) return '<none>'
  const list = metrics.map((metric, index) => {
    const type = asString(metric['type'])
    const field = SOURCE_FIELDS.get(type)
    if (field === undefined) return '<unknown type>'
    const target = asJsonObject(valueAtPath(metric, field, 'target'))
    const now = asJsonObject(valueAtPath(current[index], field, 'current'))
    const named = field === 'resource' || field === 'containerResource'
    const prefix = named ? `${asString(valueAtPath(metric, field, 'name'))}: ` : ''
    if (target['averageValue'] !== undefined) {
      const suffix = field === 'external' || field === 'object' ? ' (avg)' : ''
      return `${prefix}${asString(now['averageValue']) || '<unknown>'}/${asString(target['averageValue'])}${suffix}`
    }
    if (!named) return `${asString(now['value']) || '<unknown>'}/${asString(target['value'])}`
    return `${prefix}${percent(now['averageUtilization'], '<unknown>')}/${percent(target['averageUtilization'], '<auto>')}`
  })
  return list.length > 2 ? `${list.slice(0, 2).join(', ')} + ${list.length - 2} more...` : list.join(', ')
}

const isCpuTarget = (metric: JsonObject): boolean =>
  metric['type'] === 'Resource' &&
  valueAtPath(metric, 'resource', 'name') === 'cpu' &&
  valueAtPath(metric, 'resource', 'target', 'averageUtilization') !== undefined

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics'
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior'

/** v1 has only a CPU target; the other v2 fields are kept in annotations. */
const conversion: Conversion = {
  fromStored(stored) {
    const object = stored as unknown as JsonObject
    const { metrics, behavior, ...spec } = asJsonObject(object['spec'])
    const { currentMetrics, conditions: _, ...status } = asJsonObject(object['status'])
    const cpu = asJsonObjects(metrics).find(isCpuTarget)
    const others = asJsonObjects(metrics).filter((metric) => metric !== cpu)
    const annotations = {
      ...asJsonObject(valueAtPath(object, 'metadata', 'annotations')),
      ...(others.length > 0 && { [METRICS]: JSON.stringify(others) }),
      ...(isJsonObject(behavior) && { [BEHAVIOR]: JSON.stringify(behavior) }),
    }
    const used = asJsonObjects(currentMetrics).map((metric) =>
      valueAtPath(metric, 'resource', 'current', 'averageUtilization'),
    )
    return {
      ...object,
      apiVersion: 'autoscaling/v1',
      metadata: withField(
        asJsonObject(object['metadata']),
        'annotations',
        Object.keys(annotations).length > 0 ? annotations : undefined,
      ),
      spec: {
        ...spec,
        ...(cpu && { targetCPUUtilizationPercentage: valueAtPath(cpu, 'resource', 'target', 'averageUtilization') }),
      },
      status: {
        currentReplicas: 0,
        ...status,
        ...(typeof used[0] === 'number' && { currentCPUUtilizationPercentage: used[0] }),
      },
    } as KubeObject
  },
  toStored(served) {
    const object = served as unknown as JsonObject
    const { targetCPUUtilizationPercentage: target, ...spec } = asJsonObject(object['spec'])
    const { currentCPUUtilizationPercentage: _, ...status } = asJsonObject(object['status'])
    const {
      [METRICS]: metrics,
      [BEHAVIOR]: behavior,
      ...annotations
    } = asJsonObject(valueAtPath(object, 'metadata', 'annotations'))
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
    }
    const others = parsed(metrics)
    const list = [...(Array.isArray(others) ? others : []), ...(typeof target === 'number' ? [cpu] : [])]
    const policy = parsed(behavior)
    return {
      ...object,
      apiVersion: 'autoscaling/v2',
      metadata: withField(
        asJsonObject(object['metadata']),
        'annotations',
        Object.keys(annotations).length > 0 ? annotations : undefined,
      ),
      spec: { ...spec, metrics: list.length > 0 ? list : [CPU], ...(isJsonObject(policy) && { behavior: policy }) },
      status: { currentMetrics: null, desiredReplicas: 0, ...status },
    } as KubeObject
  },
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Kinds of the autoscaling group, stored as v2. */
export const AUTOSCALING: KindTable = {
  'horizontalpodautoscalers.autoscaling/v2': {
    columns,
    rules: {
      generation: false,
      newStatus: { desiredReplicas: 0, currentMetrics: null },
      defaults: (object) => withinField(object, 'spec', defaultSpec),
      validate: validateAutoscaler,
    },
  },
  'horizontalpodautoscalers.autoscaling/v1': {
    columns: (object, age, now) => columns(conversion.toStored(object) as unknown as JsonObject, age, now),
    conversion,
    rules: {
      generation: false,
      newStatus: { currentReplicas: 0, desiredReplicas: 0 },
      defaults: (object) =>
        withinField(object, 'spec', (spec) => filled(spec, { minReplicas: 1, targetCPUUtilizationPercentage: 80 })),
      validate: (object) => validateAutoscaler(conversion.toStored(object) as unknown as JsonObject),
    },
  },
}
