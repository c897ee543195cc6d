import { expect, test } from 'vitest'
import { validateAutoscaler } from './autoscaler-validation.ts'

const base = { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } }
const errors = (spec: object): readonly string[] =>
  validateAutoscaler({ spec: { ...base, ...spec } }).map(({ field, message }) => `${field}: ${message}`)

test('a metric must have the source of its type', () => {
  const target = { type: 'Utilization', averageUtilization: 50 }
  expect(errors({ metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] })).toEqual([])
  expect(errors({ metrics: [{ type: 'Pods', resource: { name: 'cpu', target } }] })).toEqual([
    'spec.metrics[0].pods: Required value: must populate information for the given metric source',
  ])
})

test('scaling to zero needs an Object or External metric', () => {
  expect(errors({ minReplicas: 0 })).toContain(
    'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
  )
})

test('scaling policies are limited', () => {
  const scaleDown = { stabilizationWindowSeconds: 3601, policies: [{ type: 'Pods', value: 0, periodSeconds: 1801 }] }
  expect(errors({ behavior: { scaleDown } })).toEqual([
    'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
    'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
    'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
  ])
})
