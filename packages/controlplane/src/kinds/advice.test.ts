import { expect, test } from 'vitest'
import { adviseOnPod, adviseOnTemplate, fractionAdvice } from './advice.ts'

const advise = adviseOnTemplate('spec', 'template')
const deployment = (name: string, image: string): Record<string, unknown> => ({
  metadata: { name },
  spec: { template: { spec: { containers: [{ image, env: [{ name: 'A' }, { name: 'A' }] }] } } },
})
const HIDDEN =
  'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'

test('a name is warned of when it is given, a template when it changes', () => {
  expect(advise(deployment('a.b', 'x'), undefined)).toEqual([
    expect.stringContaining('[must not contain dots]'),
    HIDDEN,
  ])
  expect(advise(deployment('a.b', 'x'), deployment('a.b', 'x'))).toEqual([])
  expect(advise(deployment('a.b', 'x'), deployment('a.b', 'y'))).toEqual([HIDDEN])
})

test('pods are warned of once', () => {
  const pod = { metadata: { name: 'a' }, spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } }
  expect(adviseOnPod(pod, undefined)).toEqual([
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ])
  expect(adviseOnPod(pod, pod)).toEqual([])
})

test('there is no half of a byte', () => {
  expect(fractionAdvice({ cpu: '100m', memory: '1Gi' }, 'limits')).toEqual([])
  expect(fractionAdvice({ memory: '100m' }, 'limits')).toHaveLength(1)
})
