/** More objects with several errors each: quotas, limits, volumes, nodes. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { job, pod, service, statefulSet } from '../objects.ts'
import { merged, priority, refused, sample, type Sample, storageClass, taken } from '../samples.ts'
import { core, create, MERGE_PATCH, named, patch } from '../steps.ts'

const quota = sample(core('resourcequotas'), 'v1', 'ResourceQuota', {})
const limits = sample(core('limitranges'), 'v1', 'LimitRange', {})
const ingress = sample(named('networking.k8s.io/v1', 'ingresses'), 'networking.k8s.io/v1', 'Ingress', {})
const claim = sample(core('persistentvolumeclaims'), 'v1', 'PersistentVolumeClaim', {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'slow',
  resources: { requests: { storage: '1Gi' } },
})
const volume = sample(
  '/api/v1/persistentvolumes',
  'v1',
  'PersistentVolume',
  { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
  'volume-{ns}',
)
const node = sample('/api/v1/nodes', 'v1', 'Node', {}, 'node-{ns}')

/** For kinds without a spec. */
const refusedWhole = ({ path, base }: Sample, name: string, ...changes: readonly JsonObject[]): Case => ({
  name: `refuse ${name}`,
  steps: changes.map((change) => create(`${path}?dryRun=All`, merged(base, change), { status: 422 })),
})

const hard = (...amounts: readonly (readonly [string, string])[]): readonly JsonObject[] =>
  amounts.map(([name, amount]) => ({ hard: { [name]: amount } }))
const scoped = (expression: JsonObject): JsonObject => ({
  hard: { pods: '1' },
  scopeSelector: { matchExpressions: [expression] },
})

const QUOTAS: readonly Case[] = [
  refused(quota, 'names in quotas', ...hard(['foo', '1'], ['count/', '1'], ['a b', '1'], ['storage', '1'], ['', '1'])),
  refused(
    quota,
    'amounts in quotas',
    ...hard(['pods', '-1'], ['pods', '1.5'], ['cpu', '-1'], ['services', '1m'], ['count/pods', '1.5']),
  ),
  taken(
    quota,
    'resources in quotas',
    ...hard(
      ['cpu', '1.5'],
      ['requests.example.com/gpu', '1'],
      ['count/deployments.apps', '1'],
      ['requests.hugepages-2Mi', '1'],
    ),
  ),
  refused(
    quota,
    'scopes of quotas',
    { scopes: ['Foo'] },
    { scopes: ['BestEffort', 'NotBestEffort'] },
    { hard: { services: '1' }, scopes: ['Terminating'] },
    { hard: { pods: '1' }, scopes: ['VolumeAttributesClass'] },
  ),
  refused(
    quota,
    'scope selectors of quotas',
    scoped({}),
    scoped({ scopeName: 'Foo', operator: 'In', values: ['a'] }),
    scoped({ scopeName: 'PriorityClass', operator: 'In' }),
    scoped({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }),
    scoped({ scopeName: 'BestEffort', operator: 'DoesNotExist' }),
    { hard: { services: '1' }, scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'Exists' }] } },
  ),
  {
    name: 'refuse other scopes of a quota',
    steps: [
      create(quota.path, merged(quota.base, { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } }), {
        pick: ['spec'],
      }),
      patch(MERGE_PATCH, `${quota.path}/a`, { spec: { scopes: ['NotBestEffort'] } }, { status: 422 }),
    ],
  },
  refused(
    limits,
    'types of limits',
    ...['', 'Foo', 'a b'].map((type) => ({ limits: [{ type }] })),
    { limits: [{ type: 'Container' }, { type: 'Container' }] },
    { limits: [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] },
    { limits: [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }] },
    { limits: [{ type: 'Container', max: { foo: '1' } }] },
  ),
  refused(
    limits,
    'the order of limits',
    { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] },
    {
      limits: [
        {
          type: 'Container',
          min: { cpu: '2' },
          max: { cpu: '4' },
          default: { cpu: '1' },
          defaultRequest: { cpu: '5' },
        },
      ],
    },
    { limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '0.5' } }] },
    { limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '5' }, min: { cpu: '1' }, max: { cpu: '2' } }] },
    {
      limits: [{ type: 'Container', default: { 'example.com/gpu': '3' }, defaultRequest: { 'example.com/gpu': '2' } }],
    },
  ),
]

const backend: JsonObject = { service: { name: 'a', port: { number: 80 } } }

const OTHERS: readonly Case[] = [
  refused(
    ingress,
    'ingresses of many mistakes',
    { defaultBackend: backend, tls: [{ hosts: ['A', '*.b', '*'], secretName: 'X_' }, {}, { secretName: 'ok' }] },
    { defaultBackend: backend, ingressClassName: '' },
    { defaultBackend: { resource: { apiGroup: 'a b', kind: 'A/', name: '..' } } },
  ),
  {
    name: 'refuse classes of an ingress',
    steps: [
      create(
        `${ingress.path}?dryRun=All`,
        merged(ingress.base, {
          metadata: { annotations: { 'kubernetes.io/ingress.class': 'x' } },
          spec: { defaultBackend: backend, ingressClassName: 'y' },
        }),
        { status: 422 },
      ),
    ],
  },
  refused(
    claim,
    'sources of claims',
    { dataSourceRef: { kind: 'Foo', name: '' } },
    {
      dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
    },
    { volumeAttributesClassName: 'A_' },
  ),
  taken(
    claim,
    'sources of claims',
    { dataSource: { kind: 'PersistentVolumeClaim', name: 'b' } },
    { dataSourceRef: { apiGroup: 'example.com', kind: 'Foo', name: 'b' } },
    { dataSource: { kind: 'Foo', name: 'b' } },
    { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b', namespace: 'c' } },
  ),
  refused(
    volume,
    'sources of volumes',
    { hostPath: { path: '/a', type: 'Foo' } },
    { hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' },
    { nfs: {} },
    { local: { path: '' } },
    { csi: {} },
    { csi: { driver: 'A_', volumeHandle: 'a' } },
    { iscsi: {} },
    { fc: {} },
  ),
  refused(
    volume,
    'reach of volumes',
    { hostPath: { path: '/a' }, storageClassName: 'A_', capacity: { storage: '-1' } },
    { hostPath: { path: '/a' }, nodeAffinity: {} },
    { hostPath: { path: '/a' }, nodeAffinity: { required: { nodeSelectorTerms: [] } } },
    {
      local: { path: '/a' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a b', operator: 'Foo' }] }] } },
    },
  ),
  refusedWhole(
    storageClass,
    'storage classes',
    { provisioner: 'A B' },
    { parameters: { '': 'a' }, reclaimPolicy: 'Foo', volumeBindingMode: 'Foo' },
    { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, 'v'])) },
    { parameters: { a: 'x'.repeat(300_000) } },
    { allowedTopologies: [{ matchLabelExpressions: [{ key: '', values: [] }] }] },
    {
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'a', values: ['b', 'b'] },
            { key: 'a', values: ['c'] },
          ],
        },
      ],
    },
    {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'a', values: ['b'] }] },
        { matchLabelExpressions: [{ key: 'a', values: ['b'] }] },
      ],
    },
  ),
  refusedWhole(
    priority,
    'priority classes',
    { value: 2_000_000_000, preemptionPolicy: 'Foo' },
    { preemptionPolicy: '' },
    { metadata: { name: 'system-foo' } },
    { metadata: { name: 'system-node-critical' } },
  ),
  refused(
    node,
    'taints of nodes',
    { taints: [{ key: 'a', value: 'b c', effect: 'NoSchedule' }, { key: 'a b' }] },
    {
      taints: [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', value: 'b', effect: 'NoSchedule' },
      ],
    },
  ),
  refused(
    node,
    'networks of nodes',
    { podCIDR: 'x', podCIDRs: ['x'] },
    { podCIDRs: ['10.0.0.1/24'] },
    { podCIDRs: ['10.0.0.0/24', '10.1.0.0/24'] },
  ),
  taken(
    node,
    'networks of nodes',
    { podCIDR: '10.0.0.0/24' },
    { podCIDRs: ['10.0.0.0/24', '::/64'] },
    { podCIDR: '10.0.0.0/24', podCIDRs: ['10.1.0.0/24'] },
  ),
  {
    name: 'take the status of a node',
    steps: [
      create('/api/v1/nodes?dryRun=All', merged(node.base, { status: { capacity: { cpu: '1' } } }), {
        pick: ['status'],
      }),
      create('/api/v1/nodes?dryRun=All', merged(node.base, { status: { capacity: { cpu: '-1' } } }), { status: 422 }),
    ],
  },
]

const pods = core('pods')
const annotated = (annotations: JsonObject): JsonObject => ({ ...pod('a'), metadata: { name: 'a', annotations } })
const SECCOMP = 'seccomp.security.alpha.kubernetes.io'

const PODS: readonly Case[] = [
  {
    name: 'refuse what a pod takes beside its containers',
    hasPods: true,
    steps: [create(`${pods}?dryRun=All`, pod('a', { overhead: { cpu: '100m' } }), { status: 403 })],
  },
  {
    name: 'refuse profiles in annotations',
    hasPods: true,
    steps: [
      ...[
        { [`${SECCOMP}/pod`]: 'bogus' },
        { [`${SECCOMP}/pod`]: 'localhost/../a' },
        { [`${SECCOMP}/pod`]: 'localhost//a' },
      ].map((annotations) => create(`${pods}?dryRun=All`, annotated(annotations), { status: 422 })),
      create(`${pods}?dryRun=All`, annotated({ [`container.${SECCOMP}/web`]: '' }), { status: 422 }),
      create(`${pods}?dryRun=All`, annotated({ [`${SECCOMP}/pod`]: 'localhost/a' }), { pick: ['kind'] }),
    ],
  },
  {
    name: 'refuse names of sets that are too long',
    steps: [
      create(
        `${named('apps/v1', 'statefulsets')}?dryRun=All`,
        { ...statefulSet('a'), metadata: { name: 'a'.repeat(64) } },
        { status: 422 },
      ),
      create(
        `${named('batch/v1', 'jobs')}?dryRun=All`,
        { ...job('a'), metadata: { name: 'a'.repeat(64) } },
        { status: 422 },
      ),
    ],
  },
  {
    name: 'refuse rules of scaling without a policy',
    steps: [
      create(
        `${named('autoscaling/v2', 'horizontalpodautoscalers')}?dryRun=All`,
        {
          apiVersion: 'autoscaling/v2',
          kind: 'HorizontalPodAutoscaler',
          metadata: { name: 'a' },
          spec: {
            maxReplicas: 3,
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
            behavior: { scaleUp: { policies: [] } },
          },
        },
        { status: 422 },
      ),
    ],
  },
  {
    name: 'refuse addresses with zeros before them',
    steps: [create(`${core('services')}?dryRun=All`, service('a', { externalIPs: ['010.0.0.1'] }), { status: 422 })],
  },
]

export const refusedCoreKindCases: CaseGroup = { name: 'refused core kinds', cases: [...QUOTAS, ...OTHERS, ...PODS] }
