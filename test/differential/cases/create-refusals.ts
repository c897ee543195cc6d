import type { Case, Json, JsonObject } from '../case.ts'
import { configMap, container, deployment, job, lease, pod, role, secret, service } from '../objects.ts'
import { core, create, named } from '../steps.ts'

const APPS = 'apps/v1'
const BATCH = 'batch/v1'
const RBAC = 'rbac.authorization.k8s.io/v1'

/** Rejected by the kind's own validation. */
function invalid(title: string, path: string, body: JsonObject, status = 422): Case {
  return { name: `create refuses ${title}`, hasPods: true, steps: [create(path, body, { status, unordered: true })] }
}

const selecting = (labels: JsonObject): JsonObject => ({ selector: { matchLabels: labels } })
const listOf = (...items: readonly Json[]): Json => items

export const refusedObjects: readonly Case[] = [
  invalid('a bad name', core('configmaps'), configMap('Not_A_Name')),
  invalid('a long name', core('configmaps'), configMap('x'.repeat(254))),
  invalid('a bad label', core('configmaps'), configMap('a', {}, { labels: { 'bad key!': 'v', ok: 'not ok!' } })),
  invalid('a bad annotation', core('configmaps'), configMap('a', {}, { annotations: { '-x': 'v' } })),
  invalid('a bad finalizer', core('configmaps'), configMap('a', {}, { finalizers: ['no slash', 'x.test/y'] })),
  invalid('no name', core('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
  invalid('a bad generateName', core('configmaps'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { generateName: 'Bad_' },
  }),
  invalid(
    'a bad owner',
    core('configmaps'),
    configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }] }),
  ),
  invalid(
    'two controllers',
    core('configmaps'),
    configMap(
      'a',
      {},
      {
        ownerReferences: ['a', 'b'].map((name) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          name,
          uid: name,
          controller: true,
        })),
      },
    ),
  ),
  invalid('a bad key in data', core('configmaps'), configMap('a', { 'bad key': '1' })),
  invalid('the same key twice over', core('configmaps'), { ...configMap('a'), binaryData: { a: 'AAAA' } }),
  invalid('a pod without containers', core('pods'), pod('a', { containers: [] })),
  invalid(
    'a pod with bad containers',
    core('pods'),
    pod('a', { containers: listOf({ name: 'A B' }, { name: 'x', image: 'i', imagePullPolicy: 'Perhaps' }) }),
  ),
  invalid(
    'a pod with twice the same container',
    core('pods'),
    pod('a', { containers: [container('web'), container('web')] }),
  ),
  invalid(
    'a pod with a missing volume',
    core('pods'),
    pod('a', { containers: [container('web', { volumeMounts: [{ name: 'gone', mountPath: '/x' }] })] }),
  ),
  invalid('a pod with a bad restart policy', core('pods'), pod('a', { restartPolicy: 'Sometimes' })),
  invalid(
    'a pod with bad amounts',
    core('pods'),
    pod('a', { containers: [container('web', { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } })] }),
  ),
  invalid(
    'a pod with a bad port',
    core('pods'),
    pod('a', { containers: [container('web', { ports: [{ containerPort: 70_000 }] })] }),
  ),
  invalid('a service without ports', core('services'), service('a', { ports: [] })),
  invalid('a service with unnamed ports', core('services'), service('a', { ports: [{ port: 1 }, { port: 2 }] })),
  invalid('a service with a bad name', core('services'), service('A_b')),
  invalid('a service of no type', core('services'), service('a', { type: 'Strange' })),
  invalid('a deployment whose selector misses', named(APPS, 'deployments'), deployment('a', selecting({ app: 'b' }))),
  invalid('a deployment without a selector', named(APPS, 'deployments'), deployment('a', { selector: null })),
  invalid('a deployment of minus one', named(APPS, 'deployments'), deployment('a', { replicas: -1 })),
  invalid(
    'a deployment that cannot roll',
    named(APPS, 'deployments'),
    deployment('a', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  ),
  invalid(
    'a job that always restarts',
    named(BATCH, 'jobs'),
    job('a', { template: { spec: { restartPolicy: 'Always', containers: [container('web')] } } }),
  ),
  invalid('a secret of a type with other keys', core('secrets'), { ...secret('a'), type: 'kubernetes.io/tls' }),
  invalid('a lease of no time', named('coordination.k8s.io/v1', 'leases'), lease('a', { leaseDurationSeconds: 0 })),
  invalid(
    'a role without verbs',
    named(RBAC, 'roles'),
    role('a', [{ apiGroups: [''], resources: ['pods'], verbs: [] }]),
  ),
  invalid('a claim without a size', core('persistentvolumeclaims'), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'a' },
    spec: { accessModes: [] },
  }),
  invalid('a budget with both', named('policy/v1', 'poddisruptionbudgets'), {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec: { minAvailable: 1, maxUnavailable: 1, selector: {} },
  }),
  invalid('another namespace', core('configmaps'), configMap('a', {}, { namespace: 'other' }), 400),
  invalid('a version of the object', core('configmaps'), configMap('a', {}, { resourceVersion: '1' }), 500),
]
