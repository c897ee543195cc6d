import { expect, test } from 'vitest'
import { fractionWarnings } from '../volume/volume-warnings.ts'
import { warningsForPod, warningsForTemplate } from './pod-warnings.ts'

const deploymentWarnings = warningsForTemplate('spec', 'template')
const deployment = (name: string, generation: number): Record<string, unknown> => ({
  metadata: { name, generation },
  spec: { template: { spec: { containers: [{ env: [{ name: 'A' }, { name: 'A' }] }] } } },
})
const HIDDEN =
  'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'

test('a name is reported on create and a template when the generation changes', () => {
  expect(deploymentWarnings(deployment('a.b', 1), undefined)).toEqual([
    expect.stringContaining('[must not contain dots]'),
    HIDDEN,
  ])
  expect(deploymentWarnings(deployment('a.b', 1), deployment('a.b', 1))).toEqual([])
  expect(deploymentWarnings(deployment('a.b', 1), deployment('a.b', 2))).toEqual([HIDDEN])
})

test('a pod is reported only on create', () => {
  const pod = { metadata: { name: 'a' }, spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } }
  expect(warningsForPod(pod, undefined)).toEqual([
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ])
  expect(warningsForPod(pod, pod)).toEqual([])
})

test('a fractional byte value is reported', () => {
  expect(fractionWarnings({ cpu: '100m', memory: '1Gi' }, 'limits', ['memory'])).toEqual([])
  expect(fractionWarnings({ memory: '100m' }, 'limits', ['memory'])).toHaveLength(1)
})

const port = (hostPort?: number, hostIP?: string) => ({ containerPort: 80, protocol: 'TCP', hostPort, hostIP })
const portWarnings = (...ports: readonly object[]) =>
  warningsForPod(
    { metadata: { name: 'a' }, spec: { containers: [{ ports: ports.slice(0, 1) }, { ports: ports.slice(1) }] } },
    undefined,
  )

test('conflicting ports are reported', () => {
  const between = 'port definition with spec.containers[0].ports[0]'
  expect(portWarnings(port(), port())).toEqual([`spec.containers[1].ports[0]: duplicate ${between}`])
  expect(portWarnings(port(8080), port())).toEqual([`spec.containers[1].ports[0]: overlapping ${between}`])
  expect(portWarnings(port(8080), port(8080, '10.0.0.1'))).toEqual([
    `spec.containers[1].ports[0]: dangerously ambiguous ${between}`,
  ])
  expect(portWarnings(port(8080, '10.0.0.2'), port(8080, '10.0.0.1'))).toEqual([])
  expect(portWarnings(port(8080), port(8081), { ...port(), protocol: 'UDP' })).toEqual([])
})

test('the number of reported port conflicts is bounded', () => {
  expect(portWarnings(...Array.from({ length: 3000 }, () => port()))).toHaveLength(128)
  const apart = Array.from({ length: 3000 }, (_, index) => ({ ...port(), containerPort: index + 1 }))
  expect(portWarnings(...apart)).toEqual([])
})
