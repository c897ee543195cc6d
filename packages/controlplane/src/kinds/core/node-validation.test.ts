import { expect, test } from 'vitest'
import { defaultNode, validateNode } from './node-validation.ts'

test('podCIDR and podCIDRs of a node are kept equal', () => {
  expect(defaultNode({ spec: { podCIDR: '10.0.0.0/24' } })).toEqual({
    spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] },
  })
  expect(defaultNode({ spec: { podCIDRs: ['10.0.0.0/24', '::/64'] } })).toEqual({
    spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', '::/64'] },
  })
})

test('a node has one CIDR per family and no duplicate taint', () => {
  const taint = { key: 'a', effect: 'NoSchedule' }
  expect(validateNode({ spec: { podCIDRs: ['10.0.0.0/24', '::/64'], taints: [taint] } })).toEqual([])
  const errors = validateNode({ spec: { podCIDRs: ['10.0.0.0/24', '10.1.0.0/24'], taints: [taint, taint] } })
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family',
  ])
})
