import type { KubeObject, Stored } from '@tenure/kube'
import { expect, test } from 'vitest'
import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, isDeepEqual, valueAtPath } from '@tenure/kube/model'

import { isSemanticallyEqual } from '../model/json.ts'
import type { ResourceDefinition } from '../registry/types.ts'
import { builtInCatalog } from './catalog.ts'

const catalog = builtInCatalog()

function definition(bucketOrKey: string, version = 'v1'): ResourceDefinition {
  const found = catalog.find(
    (one) => (one.group ? `${one.plural}.${one.group}` : one.plural) === bucketOrKey && one.version === version,
  )
  if (!found) throw new Error(bucketOrKey)
  return found
}

const stored = (object: JsonObject): Stored<KubeObject> => object as unknown as Stored<KubeObject>

test('the catalog has every resource that kube-apiserver serves', () => {
  expect(catalog.length).toBe(68)
  const deployments = definition('deployments.apps')
  expect(deployments).toMatchObject({
    kind: 'Deployment',
    listKind: 'DeploymentList',
    singular: 'deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    namespaced: true,
    hasStatus: true,
    isBuiltIn: true,
    bucket: 'deployments.apps',
    scale: { specReplicas: '.spec.replicas' },
  })
  expect(deployments.subresources?.map(({ name }) => name)).toEqual(['scale', 'status'])
  expect(deployments.schema?.properties?.['spec']).toBeDefined()
  // Every column has a value, also for an empty object.
  for (const { printer, plural } of catalog.filter((one) => one.verbs.includes('list'))) {
    const cells = printer.cells({ metadata: { name: 'a' } }, 0)
    expect([plural, cells.length]).toEqual([plural, printer.columns.length])
  }
})

test('events of both groups share one storage bucket', () => {
  const { conversion, bucket } = definition('events.events.k8s.io')
  expect(bucket).toBe('events')
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'a' },
    regarding: { kind: 'Pod', name: 'p' },
    note: 'said',
    reportingController: 'c',
    deprecatedCount: 3,
    reason: 'R',
  }
  const core = conversion?.toStored(event)
  expect(core).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'a' },
    involvedObject: { kind: 'Pod', name: 'p' },
    message: 'said',
    reportingComponent: 'c',
    count: 3,
    reason: 'R',
  })
  expect(conversion?.fromStored(core ?? {})).toEqual(event)
  const fields = definition('events').strategy.selectableFields
  expect(fields?.['involvedObject.name']?.(core ?? {})).toBe('p')
  expect(fields?.['involvedObject.name']?.(event as KubeObject)).toBe('p')
})

test('an autoscaler converts between v1 and v2 without loss', () => {
  const { conversion } = definition('horizontalpodautoscalers.autoscaling', 'v1')
  const old = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a' },
    spec: {
      maxReplicas: 3,
      minReplicas: 1,
      scaleTargetRef: { kind: 'Deployment', name: 'a' },
      targetCPUUtilizationPercentage: 50,
    },
    status: { currentReplicas: 0, desiredReplicas: 0 },
  }
  const next = conversion?.toStored(old) ?? {}
  expect(valueAtPath(next, 'spec', 'metrics')).toEqual([
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ])
  const memory = {
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
  }
  const rich = {
    ...next,
    spec: {
      ...asJsonObject(valueAtPath(next, 'spec')),
      metrics: [memory, ...(valueAtPath(next, 'spec', 'metrics') as object[])],
    },
  } as KubeObject
  const back = conversion?.fromStored(rich) ?? {}
  expect(valueAtPath(back, 'spec', 'targetCPUUtilizationPercentage')).toBe(50)
  expect(valueAtPath(conversion?.toStored(back), 'spec', 'metrics')).toEqual(valueAtPath(rich, 'spec', 'metrics'))
})

test('a service keeps its allocated address and ports', () => {
  const { strategy } = definition('services')
  const body = (spec: JsonObject): KubeObject =>
    strategy.defaults?.({ metadata: { name: 'a' }, spec } as KubeObject) ?? {}
  const created = stored(
    strategy.prepareForCreate?.(body({ type: 'NodePort', ports: [{ port: 80, name: 'a' }] })) as unknown as JsonObject,
  )
  const [address, port] = [valueAtPath(created, 'spec', 'clusterIP'), valueAtPath(created, 'spec', 'ports', '0')]
  expect(address).toMatch(/^10\.(9[6-9]|10\d|11[01])\./)
  expect(port).toBeUndefined()
  const updated = strategy.prepareForUpdate?.(body({ type: 'NodePort', ports: [{ port: 81, name: 'a' }] }), created)
  expect(valueAtPath(updated, 'spec', 'clusterIP')).toBe(address)
  expect(valueAtPath(updated, 'spec', 'ipFamilies')).toEqual(['IPv4'])
  expect((valueAtPath(updated, 'spec', 'ports') as JsonObject[])[0]?.['nodePort']).toBe(
    (valueAtPath(created, 'spec', 'ports') as JsonObject[])[0]?.['nodePort'],
  )
  expect(strategy.validateUpdate?.(updated ?? {}, created)).toEqual([])
  // A ClusterIP service has no node port and no external traffic policy.
  const inner = strategy.prepareForUpdate?.(
    { ...created, spec: { ...asJsonObject(valueAtPath(created, 'spec')), type: 'ClusterIP' } } as KubeObject,
    created,
  )
  expect((valueAtPath(inner, 'spec', 'ports') as JsonObject[])[0]).toEqual({
    port: 80,
    name: 'a',
    protocol: 'TCP',
    targetPort: 80,
  })
  expect(valueAtPath(inner, 'spec', 'externalTrafficPolicy')).toBeUndefined()
  expect(strategy.validateUpdate?.(inner ?? {}, created)).toEqual([])
})

const running = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  ready: true,
  restartCount: 0,
  state: { running: {} },
  ...more,
})

test.each<[string, JsonObject, JsonObject, readonly unknown[]]>([
  ['running', {}, { phase: 'Running', containerStatuses: [running('a'), running('b')] }, ['2/2', 'Running', '0']],
  [
    'crashing',
    {},
    {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'a',
          restartCount: 4,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { finishedAt: '2026-01-01T00:00:00Z', exitCode: 1 } },
        },
        running('b'),
      ],
    },
    ['1/2', 'CrashLoopBackOff', '4 (60s ago)'],
  ],
  [
    'unable to pull its image',
    {},
    {
      phase: 'Pending',
      containerStatuses: [{ name: 'a', restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } }],
    },
    ['0/2', 'ImagePullBackOff', '0'],
  ],
  [
    'initializing',
    {},
    { phase: 'Pending', initContainerStatuses: [{ name: 'i', restartCount: 0, state: { running: {} } }] },
    ['0/2', 'Init:0/1', '0'],
  ],
  [
    'failed to initialize',
    {},
    {
      phase: 'Pending',
      initContainerStatuses: [{ name: 'i', restartCount: 2, state: { terminated: { exitCode: 3 } } }],
    },
    ['0/2', 'Init:ExitCode:3', '2'],
  ],
  [
    'completed',
    {},
    {
      phase: 'Succeeded',
      containerStatuses: [{ name: 'a', restartCount: 0, state: { terminated: { reason: 'Completed', exitCode: 0 } } }],
    },
    ['0/2', 'Completed', '0'],
  ],
  [
    'being deleted',
    { deletionTimestamp: 'x' },
    { phase: 'Running', containerStatuses: [running('a')] },
    ['1/2', 'Terminating', '0'],
  ],
  ['evicted', {}, { phase: 'Failed', reason: 'Evicted' }, ['0/2', 'Evicted', '0']],
])('a pod that is %s is printed with that status', (_, metadata, status, expected) => {
  const pod = {
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
    status,
  }
  const cells = definition('pods').printer.cells(pod, Date.parse('2026-01-01T00:01:00Z'))
  expect(cells.slice(1, 4)).toEqual(expected)
})

const grace = (spec: JsonObject, status: JsonObject): unknown =>
  definition('pods').strategy.gracePeriod?.(stored({ metadata: {}, spec, status }))

test('a pod has a grace period only while it runs on a node', () => {
  expect(grace({}, { phase: 'Pending' })).toBe(0)
  expect(grace({ nodeName: 'n' }, { phase: 'Running' })).toBe(30)
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 5 }, { phase: 'Running' })).toBe(5)
  expect(grace({ nodeName: 'n' }, { phase: 'Succeeded' })).toBe(0)
})

test('an update may change only some fields of a pod', () => {
  const { strategy } = definition('pods')
  const pod = stored(
    strategy.defaults?.({
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    } as KubeObject) as unknown as JsonObject,
  )
  const changed = (spec: JsonObject): readonly string[] =>
    (
      strategy.validateUpdate?.(
        { ...pod, spec: { ...asJsonObject(valueAtPath(pod, 'spec')), ...spec } } as KubeObject,
        pod,
      ) ?? []
    ).map(({ field, message }) => `${field}: ${message.split(' other than')[0] ?? ''}`)
  const [container] = valueAtPath(pod, 'spec', 'containers') as JsonObject[]
  expect(changed({ containers: [{ ...container, image: 'b' }] })).toEqual([])
  expect(changed({ tolerations: [{ key: 'a', operator: 'Exists' }] })).toEqual([])
  expect(changed({ hostname: 'b' })).toEqual(['spec: Forbidden: pod updates may not change fields'])
  expect(changed({ containers: [{ ...container, command: ['x'] }] })).toEqual([
    'spec: Forbidden: pod updates may not change fields',
  ])
})

const generation = (object: unknown): unknown =>
  valueAtPath(object, 'metadata', 'annotations', 'deprecated.daemonset.template.generation')

test('a DaemonSet counts the changes of its template', () => {
  const { strategy } = definition('daemonsets.apps')
  const set = stored(
    strategy.prepareForCreate?.({
      metadata: { name: 'a' },
      spec: { template: { a: 1 } },
    } as KubeObject) as unknown as JsonObject,
  )
  expect(generation(set)).toBe('1')
  expect(generation(strategy.prepareForUpdate?.({ ...set, spec: { template: { a: 2 } } } as KubeObject, set))).toBe('2')
  expect(
    generation(
      strategy.prepareForUpdate?.({ ...set, spec: { template: { a: 1 }, minReadySeconds: 5 } } as KubeObject, set),
    ),
  ).toBe('1')
})

test('defaulting an object twice changes nothing', () => {
  for (const { strategy } of catalog) {
    const object = {
      metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } },
      spec: { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } } },
    } as KubeObject
    const once = strategy.defaults?.(object) ?? object
    expect(strategy.defaults?.(once) ?? once).toEqual(once)
  }
})

test('keys such as __proto__ are plain keys', () => {
  const object = JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}') as KubeObject
  const { strategy, printer } = definition('configmaps')
  expect(strategy.validate?.(object)).toEqual([])
  expect(printer.cells(object, 0)[1]).toBe(2)
  const secret = JSON.parse('{"metadata":{"name":"a"},"stringData":{"__proto__":"x"}}') as KubeObject
  const kept = definition('secrets').strategy.defaults?.(secret)
  expect(Object.keys(asJsonObject(valueAtPath(kept, 'data')))).toEqual(['__proto__'])
  expect(isDeepEqual(JSON.parse('{"__proto__":{}}'), {})).toBe(false)
  expect(isSemanticallyEqual(JSON.parse('{"__proto__":1}'), {})).toBe(false)
  const broken = {
    metadata: { name: 'a' },
    spec: { template: 5, selector: [], containers: 'x', ports: {} },
  } as unknown as KubeObject
  for (const { strategy: any, printer: table } of catalog) {
    const prepared = any.prepareForCreate?.(any.defaults?.(broken) ?? broken) ?? broken
    expect(() => any.validate?.(prepared)).not.toThrow()
    expect(() => table.cells(broken, 0)).not.toThrow()
  }
})
