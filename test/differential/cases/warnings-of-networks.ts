/** Services, addresses, volumes and classes that are accepted with a warning. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { service, volume } from '../objects.ts'
import { core, create, named } from '../steps.ts'

const dry = (path: string): string => `${path}?dryRun=All`
const PICKED = { pick: ['kind'] }
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `warn ${name}`, steps })

const headless = { clusterIP: 'None' }
const services = (...specs: readonly JsonObject[]): Case['steps'] =>
  specs.map((spec) => create(dry(core('services')), service('a', spec), PICKED))
const slices = named('discovery.k8s.io/v1', 'endpointslices')
const slice = (addressType: string, ...addresses: readonly string[]): JsonObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'a' },
  addressType,
  endpoints: [{ addresses }],
})

const NETWORKS: readonly Case[] = [
  one(
    'of services that ask in vain',
    ...services(
      { ...headless, sessionAffinity: 'ClientIP' },
      { ...headless, externalIPs: ['1.2.3.4'] },
      { externalIPs: ['1.2.3.4', '2001:0db8::1'] },
      { externalName: 'example.com' },
      { type: 'ExternalName', externalName: 'example.com', externalIPs: ['1.2.3.4'] },
      { trafficDistribution: 'PreferClose' },
      { type: 'LoadBalancer', loadBalancerIP: 'FE80::1', loadBalancerSourceRanges: ['2001:0db8::/32'] },
    ),
    create(dry(core('services')), {
      ...service('a', headless),
      metadata: { name: 'a', annotations: { 'service.kubernetes.io/topology-aware-hints': 'auto' } },
    }),
  ),
  one(
    'of addresses written oddly',
    create(dry(slices), slice('IPv6', '2001:0DB8::1', '2001:db8:0:0::2', '10.0.0.1'), { status: 422 }),
    create(dry(slices), slice('IPv4', '::ffff:1.2.3.4', '010.0.0.1', '2001:db8::1'), { status: 422 }),
    create(dry(slices), slice('FQDN', 'example.com'), PICKED),
    create(
      dry(named('networking.k8s.io/v1', 'networkpolicies')),
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'a' },
        spec: {
          podSelector: {},
          ingress: [{ from: [{ ipBlock: { cidr: '2001:0db8::/32', except: ['2001:DB8:1::/48'] } }] }],
          egress: [{ to: [{ podSelector: {} }, { ipBlock: { cidr: 'FE80::/10' } }] }],
        },
      },
      PICKED,
    ),
    create(
      dry('/api/v1/nodes'),
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-{ns}' },
        spec: { podCIDRs: ['2001:0db8::/64'], externalID: 'a', configSource: { configMap: {} } },
      },
      { pick: ['kind', 'spec'] },
    ),
  ),
]

const zone = 'failure-domain.beta.kubernetes.io/zone'
const CLASSES: readonly Case[] = [
  one(
    'of volumes of the past',
    create(
      dry('/api/v1/persistentvolumes'),
      {
        ...volume({ nfs: { server: 'a', path: '/a' } }),
        metadata: { name: 'volume-{ns}', annotations: { 'volume.beta.kubernetes.io/mount-options': 'b' } },
      },
      PICKED,
    ),
    create(dry('/api/v1/persistentvolumes'), volume({ cephfs: { monitors: ['a'] } }), PICKED),
    create(
      dry('/api/v1/persistentvolumes'),
      {
        ...volume({
          hostPath: { path: '/a' },
          persistentVolumeReclaimPolicy: 'Recycle',
          nodeAffinity: {
            required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'Exists' }] }] },
          },
        }),
        metadata: {
          name: 'volume-{ns}',
          annotations: { 'volume.beta.kubernetes.io/storage-class': 'a' },
        },
      },
      PICKED,
    ),
    create(
      dry(core('persistentvolumeclaims')),
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a', annotations: { 'volume.beta.kubernetes.io/storage-class': 'a' } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1.5' }, limits: { storage: '2.5' } },
        },
      },
      PICKED,
    ),
  ),
  one(
    'of classes with labels that nodes had',
    create(
      dry('/apis/storage.k8s.io/v1/storageclasses'),
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'storage-{ns}' },
        provisioner: 'a',
        allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }],
      },
      PICKED,
    ),
    create(
      dry('/apis/node.k8s.io/v1/runtimeclasses'),
      {
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name: 'runtime-{ns}' },
        handler: 'a',
        scheduling: { nodeSelector: { [zone]: 'a' } },
      },
      PICKED,
    ),
    create(
      dry('/apis/storage.k8s.io/v1/csidrivers'),
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIDriver',
        metadata: { name: 'driver-{ns}' },
        spec: { tokenRequests: [{ audience: 'a' }] },
      },
      PICKED,
    ),
  ),
]

export const networkWarningCases: CaseGroup = {
  name: 'warnings of networks and classes',
  cases: [...NETWORKS, ...CLASSES],
}
