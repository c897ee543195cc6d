/** Resource quotas of namespaces and limit ranges of pods. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { configMap, container, pod, service } from '../objects.ts'
import { core, create, get, MERGE_PATCH, patch, remove } from '../steps.ts'

const pods = core('pods')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `quota ${name}`, steps })

const quota = (name: string, hard: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name },
  spec: { hard, ...more },
})
const limits = (...items: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'limits' },
  spec: { limits: [...items] },
})
const asking = (name: string, requests: JsonObject, limited: JsonObject = {}): JsonObject =>
  pod(name, { containers: [container('web', { resources: { requests, limits: limited } })] })

/** The quota controller writes the status, in both servers. */
const QUOTA = { ignore: ['status', 'metadata.resourceVersion', 'metadata.managedFields'] }
const RESOURCES = { pick: ['kind', 'spec.containers.0.resources', 'metadata.annotations', 'status.qosClass'] }
/** The real server admits nothing until the quota controller has counted. */
const counted = { ...RESOURCES, eventually: true }

/**
 * A quota that is in force. The real server admits uncounted objects until its admission plugin has seen a new quota,
 * so the quota starts with nothing allowed and is opened once it has rejected something.
 */
const inForce = (
  name: string,
  hard: Readonly<Record<string, string>>,
  refused: Readonly<{ path: string; body: JsonObject }>,
  more: JsonObject = {},
): Case['steps'] => [
  create(
    core('resourcequotas'),
    quota(name, Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0'])), more),
    QUOTA,
  ),
  create(refused.path, refused.body, { status: 403, pick: ['kind', 'code'], eventually: true }),
  patch(MERGE_PATCH, core('resourcequotas', name), { spec: { hard } }, { pick: ['spec'] }),
]

export const quotaCases: CaseGroup = {
  name: 'quotas',
  cases: [
    one(
      'counts objects',
      // Every namespace gets this ConfigMap a moment after its creation, and it counts against the quota.
      get(core('configmaps', 'kube-root-ca.crt'), { pick: ['kind'], eventually: true }),
      ...inForce(
        'few',
        { configmaps: '3', 'count/leases.coordination.k8s.io': '1' },
        { path: `${core('configmaps')}?dryRun=All`, body: configMap('a') },
      ),
      create(core('configmaps'), configMap('a'), { pick: ['kind'], eventually: true }),
      create(core('configmaps'), configMap('b'), { pick: ['kind'] }),
      create(core('configmaps'), configMap('c'), { status: 403 }),
      create(`${core('configmaps')}?dryRun=All`, configMap('d'), { status: 403 }),
      get(core('resourcequotas', 'few'), { pick: ['status'] }),
      remove(core('configmaps', 'a'), undefined, { pick: ['status'] }),
      create(core('configmaps'), configMap('c'), { pick: ['kind'], eventually: true }),
    ),
    one(
      'counts pods and what they ask for',
      ...inForce(
        'compute',
        { pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi', 'count/pods': '5' },
        { path: `${pods}?dryRun=All`, body: pod('a') },
      ),
      create(pods, asking('a', { cpu: '500m' }, { memory: '512Mi' }), counted),
      create(pods, asking('b', { cpu: '600m' }, { memory: '512Mi' }), { status: 403 }),
      create(pods, asking('b', { cpu: '600m' }, { memory: '2Gi' }), { status: 403 }),
      create(pods, asking('b', {}, { memory: '512Mi' }), { status: 403 }),
      create(pods, pod('b'), { status: 403 }),
      create(pods, asking('b', { cpu: '500m' }, { memory: '0.5Gi' }), RESOURCES),
      create(pods, asking('c', { cpu: '1m' }, { memory: '1Mi' }), { status: 403 }),
      get(core('resourcequotas', 'compute'), { pick: ['status'] }),
    ),
    one(
      'counts services and claims',
      ...inForce(
        'more',
        { services: '1', 'services.nodeports': '0', 'requests.storage': '1Gi' },
        { path: `${core('services')}?dryRun=All`, body: service('a') },
      ),
      create(core('services'), service('a'), { pick: ['kind'], eventually: true }),
      create(core('services'), service('b', { type: 'NodePort' }), { status: 403 }),
      create(
        core('persistentvolumeclaims'),
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'a' },
          spec: {
            storageClassName: 'nobody',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '2Gi' } },
          },
        },
        { status: 403 },
      ),
    ),
    one(
      'has a scope',
      ...inForce('best', { pods: '1' }, { path: `${pods}?dryRun=All`, body: pod('a') }, { scopes: ['BestEffort'] }),
      create(pods, pod('a'), counted),
      create(pods, asking('b', { cpu: '1m' }), RESOURCES),
      create(pods, pod('c'), { status: 403 }),
    ),
    one(
      'of a range gives defaults',
      create(
        core('limitranges'),
        limits({
          type: 'Container',
          default: { cpu: '500m', memory: '512Mi' },
          defaultRequest: { cpu: '100m' },
          max: { cpu: '1' },
          min: { cpu: '50m' },
        }),
      ),
      create(pods, pod('a'), counted),
      create(pods, asking('b', { cpu: '200m' }), RESOURCES),
      create(pods, asking('c', { cpu: '10m' }), { status: 403 }),
      create(pods, asking('c', { cpu: '100m' }, { cpu: '2' }), { status: 403 }),
    ),
    one(
      'of a range holds pods and claims',
      create(
        core('limitranges'),
        limits(
          { type: 'Pod', max: { memory: '1Gi' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
          { type: 'Container', maxLimitRequestRatio: { memory: '2' } },
        ),
      ),
      create(pods, asking('a', { memory: '512Mi' }, { memory: '1Gi' }), RESOURCES),
      create(pods, asking('b', { memory: '1Gi' }, { memory: '2Gi' }), { status: 403 }),
      create(pods, asking('b', { memory: '100Mi' }, { memory: '300Mi' }), { status: 403 }),
      create(pods, pod('b'), { status: 403 }),
      create(
        core('persistentvolumeclaims'),
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'a' },
          spec: {
            storageClassName: 'nobody',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '100Mi' } },
          },
        },
        { status: 403 },
      ),
    ),
  ],
}
