import { expect, test } from 'vitest'
import { isServerEqual } from './server-values.ts'

const rule = (port: object): readonly object[] => [{ from: [{ podSelector: {} }], ports: [port] }]

test.each([
  ['1000m', '1'],
  ['1024Mi', '1Gi'],
  ['0.5', '500m'],
  [2, '2'],
  ['1e3', '1k'],
  ['.5Gi', '512Mi'],
  ['100n', '100n'],
])('a limit of %s equals %s', (desired, live) => {
  expect(isServerEqual({ cpu: desired }, { cpu: live }, 'limits')).toBe(true)
  expect(isServerEqual(desired, live, 'cpu', 'requests')).toBe(true)
})

test.each([
  ['1000m', '2'],
  ['1', '1.0001'],
  ['1Gi', '1G'],
  ['1', 'one'],
  ['', '0'],
])('a limit of %s differs from %s', (desired, live) => {
  expect(isServerEqual({ cpu: desired }, { cpu: live }, 'limits')).toBe(false)
})

test('a value that only looks like a quantity is compared as text', () => {
  expect(isServerEqual({ version: '1.0' }, { version: '1' }, 'data')).toBe(false)
  expect(isServerEqual(['1000m'], ['1'], 'args')).toBe(false)
})

test('defaults that the server fills in inside an owned value do not count', () => {
  expect(isServerEqual(rule({ port: 80 }), rule({ port: 80, protocol: 'TCP' }), 'ingress')).toBe(true)
  expect(isServerEqual(rule({ port: 80 }), rule({ port: 80, protocol: 'UDP' }), 'ingress')).toBe(false)
  expect(isServerEqual({ fieldPath: 'a' }, { fieldPath: 'a', apiVersion: 'v1' }, 'fieldRef')).toBe(true)
  const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1024Mi' } } } }
  const filled = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' },
    status: { phase: 'Pending' },
  }
  expect(isServerEqual([claim], [filled], 'volumeClaimTemplates')).toBe(true)
  // As Kubernetes 1.30 stores it.
  const undated = { ...filled, metadata: { name: 'data', creationTimestamp: null } }
  expect(isServerEqual([claim], [undated], 'volumeClaimTemplates')).toBe(true)
  const dated = { ...filled, metadata: { name: 'data', creationTimestamp: '2026-01-01T00:00:00Z' } }
  expect(isServerEqual([claim], [dated], 'volumeClaimTemplates')).toBe(false)
})

test('a field removed from an owned value counts', () => {
  expect(isServerEqual({ app: 'a' }, { app: 'a', tier: 'b' }, 'selector')).toBe(false)
  expect(isServerEqual([{ from: [] }], [{ from: [], ports: [{ port: 80 }] }], 'ingress')).toBe(false)
  expect(isServerEqual(['a'], ['a', 'b'], 'args')).toBe(false)
})
