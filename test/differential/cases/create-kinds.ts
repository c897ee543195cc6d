import type { Case, JsonObject } from '../case.ts'
import {
  container,
  deployment,
  job,
  lease,
  pod,
  podTemplate,
  replicaSet,
  role,
  secret,
  service,
  statefulSet,
} from '../objects.ts'
import { core, create, named } from '../steps.ts'

const APPS = 'apps/v1'
const BATCH = 'batch/v1'
const RBAC = 'rbac.authorization.k8s.io/v1'

/** Creates with a dry run, so that no controller changes the object before it is compared. */
function defaulted(title: string, path: string, body: JsonObject): Case {
  return { name: `create ${title}`, hasPods: true, steps: [create(`${path}?dryRun=All`, body)] }
}

const probe = (more: JsonObject): JsonObject => ({ httpGet: { path: '/', port: 80 }, ...more })

export const createdKinds: readonly Case[] = [
  defaulted('a pod', core('pods'), pod('a')),
  defaulted(
    'a pod with much in it',
    core('pods'),
    pod('a', {
      initContainers: [container('first', { restartPolicy: 'Always' })],
      containers: [
        container('web', {
          image: 'example.test/web:latest',
          ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
          env: [
            { name: 'A', value: '1' },
            { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.5' } },
          livenessProbe: probe({}),
          readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 3 },
          startupProbe: { exec: { command: ['true'] } },
          volumeMounts: [{ name: 'config', mountPath: '/config' }],
        }),
      ],
      volumes: [
        { name: 'config', configMap: { name: 'config' } },
        { name: 'secret', secret: { secretName: 'secret' } },
        { name: 'scratch', emptyDir: {} },
        { name: 'host', hostPath: { path: '/tmp' } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'config' } }, { downwardAPI: { items: [] } }] } },
      ],
      tolerations: [{ key: 'a', operator: 'Exists' }],
    }),
  ),
  defaulted('a service', core('services'), service('a')),
  defaulted('a headless service', core('services'), service('a', { clusterIP: 'None', ports: [] })),
  defaulted('an external name', core('services'), service('a', { type: 'ExternalName', externalName: 'example.test' })),
  defaulted('a service at node ports', core('services'), service('a', { type: 'NodePort' })),
  defaulted(
    'a balanced service',
    core('services'),
    service('a', {
      type: 'LoadBalancer',
      ports: [{ port: 80, name: 'http', targetPort: 'web' }],
      sessionAffinity: 'ClientIP',
    }),
  ),
  defaulted('a deployment', named(APPS, 'deployments'), deployment('a')),
  defaulted(
    'a deployment that recreates',
    named(APPS, 'deployments'),
    deployment('a', { strategy: { type: 'Recreate' }, replicas: 0, paused: true }),
  ),
  defaulted('a stateful set', named(APPS, 'statefulsets'), statefulSet('a')),
  defaulted(
    'a stateful set with volumes',
    named(APPS, 'statefulsets'),
    statefulSet('a', {
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    }),
  ),
  defaulted('a replica set', named(APPS, 'replicasets'), replicaSet('a', { replicas: 2 })),
  defaulted('a daemon set', named(APPS, 'daemonsets'), { ...deployment('a'), kind: 'DaemonSet' }),
  defaulted('a job', named(BATCH, 'jobs'), job('a')),
  defaulted(
    'a job with many parts',
    named(BATCH, 'jobs'),
    job('a', { completions: 3, parallelism: 2, completionMode: 'Indexed' }),
  ),
  defaulted('a cron job', named(BATCH, 'cronjobs'), {
    apiVersion: BATCH,
    kind: 'CronJob',
    metadata: { name: 'a' },
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: job('a')['spec'] ?? null } },
  }),
  defaulted('a budget', named('policy/v1', 'poddisruptionbudgets'), {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec: { minAvailable: '50%', selector: { matchLabels: { app: 'a' } } },
  }),
  defaulted('a volume claim', core('persistentvolumeclaims'), {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'a' },
    spec: { storageClassName: 'nobody', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  defaulted('a service account', core('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'a' },
  }),
  defaulted('a secret', core('secrets'), secret('a')),
  defaulted('a role', named(RBAC, 'roles'), role('a', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }])),
  defaulted('a role binding', named(RBAC, 'rolebindings'), {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: { name: 'a' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' },
    subjects: [
      { kind: 'ServiceAccount', name: 'default', namespace: '{ns}' },
      { kind: 'User', name: 'jane' },
    ],
  }),
  defaulted(
    'a lease',
    named('coordination.k8s.io/v1', 'leases'),
    lease('a', { holderIdentity: 'a', renewTime: '2020-01-01T00:00:00.123456Z' }),
  ),
  defaulted('an event', core('events'), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'a' },
    involvedObject: { kind: 'Pod', name: 'a', namespace: '{ns}' },
    reason: 'Testing',
    message: 'a test',
    type: 'Normal',
    count: 1,
  }),
  defaulted('an event of the new kind', named('events.k8s.io/v1', 'events'), {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'a' },
    eventTime: '2020-01-01T00:00:00.000000Z',
    regarding: { kind: 'Pod', name: 'a', namespace: '{ns}' },
    reason: 'Testing',
    action: 'Test',
    note: 'a test',
    type: 'Normal',
    reportingController: 'tenure.test/differential',
    reportingInstance: 'one',
  }),
  defaulted('an ingress', named('networking.k8s.io/v1', 'ingresses'), {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'a' },
    spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
  }),
  defaulted('a network policy', named('networking.k8s.io/v1', 'networkpolicies'), {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'a' },
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
  }),
  defaulted('an autoscaler', named('autoscaling/v2', 'horizontalpodautoscalers'), {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: APPS, kind: 'Deployment', name: 'a' } },
  }),
  defaulted('a namespace', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: '{ns}-other' },
  }),
  defaulted('a node', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '{ns}-node' } }),
  defaulted('a priority class', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: '{ns}' },
    value: 5,
  }),
  defaulted('a validating webhook', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: '{ns}' },
    webhooks: [
      {
        name: 'check.tenure.test',
        clientConfig: { service: { name: 'a', namespace: 'b' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }),
  defaulted('a pod template', core('podtemplates'), podTemplate('a', { containers: [container('web')] })),
]
