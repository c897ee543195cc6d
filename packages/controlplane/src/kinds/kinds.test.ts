import type { KubeObject, Stored } from '@tenure/kube'
import { expect, test } from 'vitest'

import { cronError } from '../cron/cron-expression.ts'
import { isTimeZone } from '../cron/time-zone.ts'
import type { Json } from '../model/json.ts'
import { asJson, at, isEqual, isSemanticallyEqual } from '../model/json.ts'
import { humanDuration } from '../printing/age.ts'
import type { ResourceDefinition } from '../registry/types.ts'
import { builtInCatalog } from './catalog.ts'
import { imageTag } from './core/pod/pod-defaults.ts'

const catalog = builtInCatalog()

function definition(bucketOrKey: string, version = 'v1'): ResourceDefinition {
  const found = catalog.find(
    (one) => (one.group ? `${one.plural}.${one.group}` : one.plural) === bucketOrKey && one.version === version,
  )
  if (!found) throw new Error(bucketOrKey)
  return found
}

const stored = (object: Json): Stored<KubeObject> => object as unknown as Stored<KubeObject>

test('the table is what the real server serves', () => {
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
  // Every row has a cell for every column, also of an object with nothing in it.
  for (const { printer, plural } of catalog.filter((one) => one.verbs.includes('list'))) {
    const cells = printer.cells({ metadata: { name: 'a' } }, 0)
    expect([plural, cells.length]).toEqual([plural, printer.columns.length])
  }
})

test.each([
  [0, '0s'],
  [-500, '0s'],
  [-5000, '<invalid>'],
  [119_000, '119s'],
  [120_000, '2m'],
  [185_000, '3m5s'],
  [11 * 60_000, '11m'],
  [3 * 3_600_000, '3h'],
  [3 * 3_600_000 + 60_000, '3h1m'],
  [30 * 3_600_000, '30h'],
  [50 * 3_600_000, '2d2h'],
  [300 * 86_400_000, '300d'],
  [800 * 86_400_000, '2y70d'],
  [4000 * 86_400_000, '10y'],
])('%d ms are %s', (milliseconds, text) => {
  expect(humanDuration(milliseconds)).toBe(text)
})

test.each([
  ['nginx', 'latest'],
  ['nginx:1', '1'],
  ['host:5000/nginx', 'latest'],
  ['host:5000/nginx:v2', 'v2'],
  ['nginx@sha256:abc', ''],
  ['nginx:v1@sha256:abc', 'v1'],
])('the tag of %s is %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag)
})

test.each(['* * * * *', '*/5 0-3 1,15 JAN-mar sun', '@daily', '@every 1h', '0 0 ? * 1'])(
  '%s is a schedule',
  (schedule) => {
    expect(cronError(schedule)).toBeUndefined()
  },
)

test.each([
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
])('%s is none: %s', (schedule, error) => {
  expect(cronError(schedule)).toBe(error)
})

test('time zones', () => {
  expect(isTimeZone('Europe/Zurich')).toBe(true)
  expect(isTimeZone('Nowhere/At_All')).toBe(false)
})

test('events are one storage with two faces', () => {
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

test('autoscalers of v1 are those of v2', () => {
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
  expect(at(next, 'spec', 'metrics')).toEqual([
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ])
  const memory = {
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
  }
  const rich = {
    ...next,
    spec: { ...asJson(at(next, 'spec')), metrics: [memory, ...(at(next, 'spec', 'metrics') as object[])] },
  } as KubeObject
  const back = conversion?.fromStored(rich) ?? {}
  expect(at(back, 'spec', 'targetCPUUtilizationPercentage')).toBe(50)
  expect(at(conversion?.toStored(back), 'spec', 'metrics')).toEqual(at(rich, 'spec', 'metrics'))
})

test('a service keeps what it was given', () => {
  const { strategy } = definition('services')
  const body = (spec: Json): KubeObject => strategy.defaults?.({ metadata: { name: 'a' }, spec } as KubeObject) ?? {}
  const created = stored(
    strategy.prepareForCreate?.(body({ type: 'NodePort', ports: [{ port: 80, name: 'a' }] })) as unknown as Json,
  )
  const [address, port] = [at(created, 'spec', 'clusterIP'), at(created, 'spec', 'ports', '0')]
  expect(address).toMatch(/^10\.(9[6-9]|10\d|11[01])\./)
  expect(port).toBeUndefined()
  const updated = strategy.prepareForUpdate?.(body({ type: 'NodePort', ports: [{ port: 81, name: 'a' }] }), created)
  expect(at(updated, 'spec', 'clusterIP')).toBe(address)
  expect(at(updated, 'spec', 'ipFamilies')).toEqual(['IPv4'])
  expect((at(updated, 'spec', 'ports') as Json[])[0]?.['nodePort']).toBe(
    (at(created, 'spec', 'ports') as Json[])[0]?.['nodePort'],
  )
  expect(strategy.validateUpdate?.(updated ?? {}, created)).toEqual([])
  // No longer outside: no node port, no policy for it.
  const inner = strategy.prepareForUpdate?.(
    { ...created, spec: { ...asJson(at(created, 'spec')), type: 'ClusterIP' } } as KubeObject,
    created,
  )
  expect((at(inner, 'spec', 'ports') as Json[])[0]).toEqual({ port: 80, name: 'a', protocol: 'TCP', targetPort: 80 })
  expect(at(inner, 'spec', 'externalTrafficPolicy')).toBeUndefined()
  expect(strategy.validateUpdate?.(inner ?? {}, created)).toEqual([])
})

const running = (name: string, more: Json = {}): Json => ({
  name,
  ready: true,
  restartCount: 0,
  state: { running: {} },
  ...more,
})

test.each<[string, Json, Json, readonly unknown[]]>([
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
    'pulling in vain',
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
    'on its way out',
    { deletionTimestamp: 'x' },
    { phase: 'Running', containerStatuses: [running('a')] },
    ['1/2', 'Terminating', '0'],
  ],
  ['evicted', {}, { phase: 'Failed', reason: 'Evicted' }, ['0/2', 'Evicted', '0']],
])('a pod that is %s', (_, metadata, status, expected) => {
  const pod = {
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
    status,
  }
  const cells = definition('pods').printer.cells(pod, Date.parse('2026-01-01T00:01:00Z'))
  expect(cells.slice(1, 4)).toEqual(expected)
})

const grace = (spec: Json, status: Json): unknown =>
  definition('pods').strategy.gracePeriod?.(stored({ metadata: {}, spec, status }))

test('a pod has grace only while it runs somewhere', () => {
  expect(grace({}, { phase: 'Pending' })).toBe(0)
  expect(grace({ nodeName: 'n' }, { phase: 'Running' })).toBe(30)
  expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 5 }, { phase: 'Running' })).toBe(5)
  expect(grace({ nodeName: 'n' }, { phase: 'Succeeded' })).toBe(0)
})

test('only some fields of a pod may change', () => {
  const { strategy } = definition('pods')
  const pod = stored(
    strategy.defaults?.({
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    } as KubeObject) as unknown as Json,
  )
  const changed = (spec: Json): readonly string[] =>
    (strategy.validateUpdate?.({ ...pod, spec: { ...asJson(at(pod, 'spec')), ...spec } } as KubeObject, pod) ?? []).map(
      ({ field, message }) => `${field}: ${message.split(' other than')[0] ?? ''}`,
    )
  const [container] = at(pod, 'spec', 'containers') as Json[]
  expect(changed({ containers: [{ ...container, image: 'b' }] })).toEqual([])
  expect(changed({ tolerations: [{ key: 'a', operator: 'Exists' }] })).toEqual([])
  expect(changed({ hostname: 'b' })).toEqual(['spec: Forbidden: pod updates may not change fields'])
  expect(changed({ containers: [{ ...container, command: ['x'] }] })).toEqual([
    'spec: Forbidden: pod updates may not change fields',
  ])
})

const generation = (object: unknown): unknown =>
  at(object, 'metadata', 'annotations', 'deprecated.daemonset.template.generation')

test('a daemon set counts the changes of its template', () => {
  const { strategy } = definition('daemonsets.apps')
  const set = stored(
    strategy.prepareForCreate?.({
      metadata: { name: 'a' },
      spec: { template: { a: 1 } },
    } as KubeObject) as unknown as Json,
  )
  expect(generation(set)).toBe('1')
  expect(generation(strategy.prepareForUpdate?.({ ...set, spec: { template: { a: 2 } } } as KubeObject, set))).toBe('2')
  expect(
    generation(
      strategy.prepareForUpdate?.({ ...set, spec: { template: { a: 1 }, minReadySeconds: 5 } } as KubeObject, set),
    ),
  ).toBe('1')
})

test('defaults leave alone what has them', () => {
  for (const { strategy } of catalog) {
    const object = {
      metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } },
      spec: { template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } } },
    } as KubeObject
    const once = strategy.defaults?.(object) ?? object
    expect(strategy.defaults?.(once) ?? once).toEqual(once)
  }
})

test('keys like __proto__ are only keys', () => {
  const object = JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}') as KubeObject
  const { strategy, printer } = definition('configmaps')
  expect(strategy.validate?.(object)).toEqual([])
  expect(printer.cells(object, 0)[1]).toBe(2)
  const secret = JSON.parse('{"metadata":{"name":"a"},"stringData":{"__proto__":"x"}}') as KubeObject
  const kept = definition('secrets').strategy.defaults?.(secret)
  expect(Object.keys(asJson(at(kept, 'data')))).toEqual(['__proto__'])
  expect(isEqual(JSON.parse('{"__proto__":{}}'), {})).toBe(false)
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
