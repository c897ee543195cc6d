import type { KubeObject } from '@tenure/kube'

import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asNumber, asText, at, filled, isJson, withField, withinField } from '../../model/json.ts'
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

function defaultSpec(given: Json): Json {
  let spec = filled(given, { minReplicas: 1 })
  if (asJsons(spec['metrics']).length === 0) spec = withField(spec, 'metrics', [CPU])
  return withinField(spec, 'behavior', (behavior) => ({
    ...behavior,
    scaleUp: filled(asJson(behavior['scaleUp']), SCALE_UP),
    scaleDown: filled(asJson(behavior['scaleDown']), SCALE_DOWN),
  }))
}

const columns: ColumnValues = (object, age) => {
  const spec = asJson(object['spec'])
  return [
    nameOf(object),
    `${asText(at(spec, 'scaleTargetRef', 'kind'))}/${asText(at(spec, 'scaleTargetRef', 'name'))}`,
    metricsColumn(asJsons(spec['metrics']), asJsons(at(object, 'status', 'currentMetrics'))),
    typeof spec['minReplicas'] === 'number' ? String(spec['minReplicas']) : '<unset>',
    asNumber(spec['maxReplicas']),
    asNumber(at(object, 'status', 'currentReplicas')),
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

function metricsColumn(metrics: readonly Json[], current: readonly Json[]): string {
  if (metrics.length === 0) return '<none>'
  const list = metrics.map((metric, index) => {
    const type = asText(metric['type'])
    const field = SOURCE_FIELDS.get(type)
    if (field === undefined) return '<unknown type>'
    const target = asJson(at(metric, field, 'target'))
    const now = asJson(at(current[index], field, 'current'))
    const named = field === 'resource' || field === 'containerResource'
    const prefix = named ? `${asText(at(metric, field, 'name'))}: ` : ''
    if (target['averageValue'] !== undefined) {
      const suffix = field === 'external' || field === 'object' ? ' (avg)' : ''
      return `${prefix}${asText(now['averageValue']) || '<unknown>'}/${asText(target['averageValue'])}${suffix}`
    }
    if (!named) return `${asText(now['value']) || '<unknown>'}/${asText(target['value'])}`
    return `${prefix}${percent(now['averageUtilization'], '<unknown>')}/${percent(target['averageUtilization'], '<auto>')}`
  })
  return list.length > 2 ? `${list.slice(0, 2).join(', ')} + ${list.length - 2} more...` : list.join(', ')
}

const isCpuTarget = (metric: Json): boolean =>
  metric['type'] === 'Resource' &&
  at(metric, 'resource', 'name') === 'cpu' &&
  at(metric, 'resource', 'target', 'averageUtilization') !== undefined

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics'
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior'

/** v1 has only a CPU target; the other v2 fields are kept in annotations. */
const conversion: Conversion = {
  fromStored(stored) {
    const object = stored as unknown as Json
    const { metrics, behavior, ...spec } = asJson(object['spec'])
    const { currentMetrics, conditions: _, ...status } = asJson(object['status'])
    const cpu = asJsons(metrics).find(isCpuTarget)
    const others = asJsons(metrics).filter((metric) => metric !== cpu)
    const annotations = {
      ...asJson(at(object, 'metadata', 'annotations')),
      ...(others.length > 0 && { [METRICS]: JSON.stringify(others) }),
      ...(isJson(behavior) && { [BEHAVIOR]: JSON.stringify(behavior) }),
    }
    const used = asJsons(currentMetrics).map((metric) => at(metric, 'resource', 'current', 'averageUtilization'))
    return {
      ...object,
      apiVersion: 'autoscaling/v1',
      metadata: withField(
        asJson(object['metadata']),
        'annotations',
        Object.keys(annotations).length > 0 ? annotations : undefined,
      ),
      spec: {
        ...spec,
        ...(cpu && { targetCPUUtilizationPercentage: at(cpu, 'resource', 'target', 'averageUtilization') }),
      },
      status: {
        currentReplicas: 0,
        ...status,
        ...(typeof used[0] === 'number' && { currentCPUUtilizationPercentage: used[0] }),
      },
    } as KubeObject
  },
  toStored(served) {
    const object = served as unknown as Json
    const { targetCPUUtilizationPercentage: target, ...spec } = asJson(object['spec'])
    const { currentCPUUtilizationPercentage: _, ...status } = asJson(object['status'])
    const { [METRICS]: metrics, [BEHAVIOR]: behavior, ...annotations } = asJson(at(object, 'metadata', 'annotations'))
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
        asJson(object['metadata']),
        'annotations',
        Object.keys(annotations).length > 0 ? annotations : undefined,
      ),
      spec: { ...spec, metrics: list.length > 0 ? list : [CPU], ...(isJson(policy) && { behavior: policy }) },
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
    columns: (object, age, now) => columns(conversion.toStored(object) as unknown as Json, age, now),
    conversion,
    rules: {
      generation: false,
      newStatus: { currentReplicas: 0, desiredReplicas: 0 },
      defaults: (object) =>
        withinField(object, 'spec', (spec) => filled(spec, { minReplicas: 1, targetCPUUtilizationPercentage: 80 })),
      validate: (object) => validateAutoscaler(conversion.toStored(object) as unknown as Json),
    },
  },
}
