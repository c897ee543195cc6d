/** Immutable fields of volumes, nodes and cluster-scoped classes. */
import type { Case, JsonObject } from '../case.ts'
import { changed, changedMuch, mended, specs } from '../changed.ts'
import { volume } from '../objects.ts'
import { priority, sample, type Sample, storageClass } from '../samples.ts'
import { core, create, MERGE_PATCH, patch, update } from '../steps.ts'

const claim = (more: JsonObject = {}): Sample => ({
  path: core('persistentvolumeclaims'),
  base: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'a' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'none-{ns}',
      resources: { requests: { storage: '2Gi' } },
      ...more,
    },
  },
})
const volumeOf = (more: JsonObject): Sample => ({
  path: '/api/v1/persistentvolumes',
  base: volume({ storageClassName: 'none-{ns}', ...more }),
})
const csi: JsonObject = { csi: { driver: 'example.com', volumeHandle: 'a' } }
const affinity = (value: string): JsonObject => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: [value] }] }] },
  },
})
const NODE = sample(
  '/api/v1/nodes',
  'v1',
  'Node',
  { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'], providerID: 'a', unschedulable: true },
  'node-{ns}',
)
const STORAGE: Sample = { ...storageClass, base: { ...storageClass.base, parameters: { a: 'b' } } }
const RUNTIME: Sample = {
  path: '/apis/node.k8s.io/v1/runtimeclasses',
  base: { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'runtime-{ns}' }, handler: 'a' },
}
const DRIVER = sample(
  '/apis/storage.k8s.io/v1/csidrivers',
  'storage.k8s.io/v1',
  'CSIDriver',
  { attachRequired: true },
  'driver-{ns}',
)
const LIMITS = sample(core('limitranges'), 'v1', 'LimitRange', { limits: [{ type: 'Pod' }] })

export const STORAGE_CHANGES: readonly Case[] = [
  changed(
    'of a claim',
    claim(),
    ...specs(
      { accessModes: ['ReadWriteMany'] },
      { resources: { requests: { storage: '1Gi' } } },
      { resources: { requests: { storage: '3Gi' } } },
      { storageClassName: 'other' },
      { storageClassName: null },
      { volumeAttributesClassName: 'a' },
      { selector: { matchLabels: { a: 'b' } } },
      { dataSource: { kind: 'PersistentVolumeClaim', name: 'b' } },
    ),
    { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'b' } } },
  ),
  changedMuch('of the mode of a claim', claim(), ...specs({ volumeMode: 'Block' }, { volumeMode: 'Foo' })),
  changed(
    'of the volume of a claim',
    claim({ volumeName: 'none-{ns}' }),
    ...specs({ volumeName: 'other' }, { volumeName: null }),
  ),
  changed(
    'of a volume',
    volumeOf(csi),
    ...specs(
      { csi: { volumeHandle: 'b' } },
      { csi: null, hostPath: { path: '/a' } },
      { volumeMode: 'Block' },
      { volumeAttributesClassName: '' },
      { accessModes: [] },
      { capacity: { storage: '0' } },
    ),
  ),
  changed(
    'of where a volume is',
    volumeOf({ ...csi, ...affinity('a'), volumeAttributesClassName: 'a' }),
    ...specs(affinity('b'), { nodeAffinity: null }, { volumeAttributesClassName: null }),
  ),
  mended(
    'of what of a volume may change',
    volumeOf(csi),
    ...specs(
      { csi: { controllerExpandSecretRef: { name: 'a', namespace: 'b' } } },
      affinity('a'),
      { accessModes: ['ReadOnlyMany'] },
      { capacity: { storage: '2Gi' } },
      { volumeAttributesClassName: 'a' },
      { persistentVolumeReclaimPolicy: 'Delete' },
      { storageClassName: 'other' },
    ),
  ),
  changed(
    'of a node',
    NODE,
    ...specs(
      { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24'] },
      { podCIDR: null, podCIDRs: null },
      { podCIDRs: ['10.0.0.0/24', 'fe80::/64'] },
      { providerID: 'b' },
      { providerID: null, taints: [{ key: 'a' }] },
    ),
  ),
  changed(
    'of a storage class',
    STORAGE,
    { provisioner: 'example.com/b' },
    { provisioner: '' },
    { parameters: { a: 'c' } },
    { parameters: null },
    { reclaimPolicy: 'Retain' },
    { reclaimPolicy: 'Foo' },
    { volumeBindingMode: 'WaitForFirstConsumer' },
    { volumeBindingMode: 'Foo', provisioner: 'a b' },
    { allowedTopologies: [{ matchLabelExpressions: [{ key: '', values: [] }] }] },
  ),
  {
    name: 'change of what of a storage class may change',
    steps: [
      create(STORAGE.path, STORAGE.base, { pick: ['kind'] }),
      patch(MERGE_PATCH, `${STORAGE.path}/storage-{ns}`, { allowVolumeExpansion: true, mountOptions: ['a'] }),
      patch(MERGE_PATCH, `${STORAGE.path}/storage-{ns}`, {
        allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: ['b'] }] }],
      }),
      { method: 'DELETE', path: `${STORAGE.path}/storage-{ns}`, pick: ['kind'] },
    ],
  },
  changed(
    'of a priority class',
    priority,
    { value: 6 },
    { value: 2_000_000_000 },
    { preemptionPolicy: 'Never' },
    { preemptionPolicy: 'Foo' },
    { value: 7, preemptionPolicy: '' },
  ),
  changed(
    'of a runtime class',
    RUNTIME,
    { handler: 'b' },
    { handler: 'B_' },
    { handler: '' },
    { handler: null },
    { overhead: { podFixed: { cpu: '-1' } } },
    { overhead: { podFixed: { foo: '1' } } },
    { scheduling: { nodeSelector: { 'a b': 'c' }, tolerations: [{ key: 'a' }, { key: 'a', tolerationSeconds: 1 }] } },
  ),
  {
    name: 'change of what of a runtime class may change',
    steps: [
      create(RUNTIME.path, RUNTIME.base, { pick: ['kind'] }),
      patch(MERGE_PATCH, `${RUNTIME.path}/runtime-{ns}`, { overhead: { podFixed: { cpu: '1' } } }),
      { method: 'DELETE', path: `${RUNTIME.path}/runtime-{ns}`, pick: ['kind'] },
    ],
  },
  changed(
    'of a driver',
    DRIVER,
    ...specs(
      { attachRequired: false },
      { volumeLifecycleModes: ['Ephemeral'] },
      { volumeLifecycleModes: ['Foo'] },
      { fsGroupPolicy: 'Foo' },
      { nodeAllocatableUpdatePeriodSeconds: 1 },
      { tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 1 }] },
      { serviceAccountTokenInSecrets: true },
    ),
  ),
  mended(
    'of what of a driver may change',
    DRIVER,
    ...specs(
      { podInfoOnMount: true, storageCapacity: true, requiresRepublish: true, seLinuxMount: true },
      { fsGroupPolicy: 'File', tokenRequests: [{ audience: 'a' }], serviceAccountTokenInSecrets: true },
    ),
  ),
  changed('of limits', LIMITS, ...specs({ limits: [{ type: 'Foo' }] })),
  {
    name: 'change that creates limits',
    steps: [
      create(LIMITS.path, LIMITS.base),
      update(`${LIMITS.path}/b`, { ...LIMITS.base, metadata: { name: 'b' } }, { status: 201 }),
    ],
  },
]
