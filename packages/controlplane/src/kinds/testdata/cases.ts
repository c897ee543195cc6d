/**
 * Requests whose answers by kube-apiserver are in recorded.json; `record.ts` records them again. Objects are minimal, so
 * that every other field is one that the server adds.
 */
export type Body = Readonly<Record<string, unknown>>

export interface Case {
  readonly title: string
  readonly object: Body
  /** A merge patch on the created object: its rejection is recorded instead of the create. */
  readonly patch?: Body
}

const container = { name: 'app', image: 'nginx' }
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [container] } }
const templateOf = (spec: Body): Body => ({ metadata: { labels }, spec: { containers: [container], ...spec } })
const selector = { matchLabels: labels }

const object = (apiVersion: string, kind: string, name: string, rest: Body = {}): Body => ({
  apiVersion,
  kind,
  metadata: { name },
  ...rest,
})

const pod = (name: string, spec: Body = {}): Body =>
  object('v1', 'Pod', name, { spec: { containers: [container], ...spec } })
const podWith = (name: string, more: Body): Body => pod(name, { containers: [{ ...container, ...more }] })
const service = (name: string, spec: Body): Body => object('v1', 'Service', name, { spec })
const deployment = (name: string, spec: Body = {}): Body =>
  object('apps/v1', 'Deployment', name, { spec: { selector, template, ...spec } })
const statefulSet = (name: string, spec: Body = {}): Body =>
  object('apps/v1', 'StatefulSet', name, { spec: { serviceName: 'web', selector, template, ...spec } })
const jobTemplate = { spec: { containers: [container], restartPolicy: 'Never' } }
const job = (name: string, spec: Body = {}): Body =>
  object('batch/v1', 'Job', name, { spec: { template: jobTemplate, ...spec } })
const claim = (name: string, spec: Body = {}): Body =>
  object('v1', 'PersistentVolumeClaim', name, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
const webhook = (more: Body = {}): Body => ({
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:9/x' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  ...more,
})
const crd = (more: Body = {}, names: Body = {}): Body =>
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.kinds.example.com', {
    spec: {
      group: 'kinds.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', ...names },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      ...more,
    },
  })

/** Objects that are created. */
export const CREATED: readonly Case[] = [
  { title: 'pod', object: pod('minimal') },
  {
    title: 'pod with everything people use',
    object: pod('full', {
      initContainers: [{ name: 'init', image: 'busybox:1.36', command: ['true'] }],
      containers: [
        {
          name: 'app',
          image: 'registry.example.com:5000/a/b:v1',
          ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
          env: [
            { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'EMPTY', value: '' },
          ],
          resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5 } },
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
          startupProbe: { grpc: { port: 9000 } },
          lifecycle: { preStop: { httpGet: { port: 80 } } },
          volumeMounts: [{ name: 'config', mountPath: '/config' }],
        },
        { name: 'side', image: 'busybox@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' },
      ],
      volumes: [
        { name: 'config', configMap: { name: 'a' } },
        { name: 'secret', secret: { secretName: 'a' } },
        { name: 'empty' },
        { name: 'host', hostPath: { path: '/tmp' } },
        { name: 'down', downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
      serviceAccountName: 'default',
      automountServiceAccountToken: false,
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
      ],
      hostNetwork: true,
    }),
  },
  { title: 'service', object: service('minimal', { ports: [{ port: 80 }], selector: labels }) },
  {
    title: 'service of type NodePort',
    object: service('node-port', {
      type: 'NodePort',
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', targetPort: 'x' },
      ],
    }),
  },
  {
    title: 'service of type LoadBalancer',
    object: service('balanced', { type: 'LoadBalancer', ports: [{ port: 80 }] }),
  },
  {
    title: 'headless service',
    object: service('headless', { clusterIP: 'None', ports: [{ port: 80 }], selector: labels }),
  },
  { title: 'headless service without selector', object: service('headless-bare', { clusterIP: 'None' }) },
  {
    title: 'service of type ExternalName',
    object: service('external', { type: 'ExternalName', externalName: 'example.com' }),
  },
  {
    title: 'service with session affinity',
    object: service('affine', { sessionAffinity: 'ClientIP', ports: [{ port: 80 }] }),
  },
  { title: 'config map', object: object('v1', 'ConfigMap', 'minimal') },
  {
    title: 'config map with data',
    object: object('v1', 'ConfigMap', 'data', { data: { a: '1' }, binaryData: { b: 'AAE=' } }),
  },
  { title: 'secret', object: object('v1', 'Secret', 'minimal') },
  {
    title: 'secret with stringData',
    object: object('v1', 'Secret', 'strings', { data: { a: 'YQ==', b: 'Yg==' }, stringData: { b: 'new', c: '' } }),
  },
  { title: 'namespace', object: object('v1', 'Namespace', 'kinds-minimal') },
  { title: 'service account', object: object('v1', 'ServiceAccount', 'minimal') },
  { title: 'persistent volume claim', object: claim('minimal') },
  {
    title: 'persistent volume',
    object: object('v1', 'PersistentVolume', 'kinds-minimal', {
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } },
    }),
  },
  { title: 'node', object: object('v1', 'Node', 'kinds-minimal') },
  {
    title: 'event',
    object: object('v1', 'Event', 'minimal', {
      involvedObject: { kind: 'Pod', namespace: 'kinds', name: 'a' },
      reason: 'Tested',
      message: 'tested',
      type: 'Normal',
    }),
  },
  {
    title: 'event of events.k8s.io',
    object: object('events.k8s.io/v1', 'Event', 'minimal-new', {
      eventTime: '2026-01-02T03:04:05.678901Z',
      reportingController: 'example.com/tester',
      reportingInstance: 'tester-1',
      action: 'Testing',
      reason: 'Tested',
      type: 'Normal',
      note: 'tested',
      regarding: { kind: 'Pod', namespace: 'kinds', name: 'a' },
    }),
  },
  {
    title: 'endpoints',
    object: object('v1', 'Endpoints', 'minimal', {
      subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }],
    }),
  },
  {
    title: 'endpoint slice',
    object: object('discovery.k8s.io/v1', 'EndpointSlice', 'minimal', {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.1.1'] }],
      ports: [{ port: 80 }],
    }),
  },
  { title: 'pod template', object: object('v1', 'PodTemplate', 'minimal', { template }) },
  { title: 'deployment', object: deployment('minimal') },
  {
    title: 'deployment that recreates',
    object: deployment('recreate', { replicas: 0, strategy: { type: 'Recreate' } }),
  },
  {
    title: 'replica set',
    object: object('apps/v1', 'ReplicaSet', 'minimal', { spec: { replicas: 0, selector, template } }),
  },
  { title: 'stateful set', object: statefulSet('minimal') },
  {
    title: 'stateful set with claims',
    object: statefulSet('claims', {
      replicas: 0,
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    }),
  },
  { title: 'daemon set', object: object('apps/v1', 'DaemonSet', 'minimal', { spec: { selector, template } }) },
  {
    title: 'replication controller',
    object: object('v1', 'ReplicationController', 'minimal', { spec: { replicas: 0, template } }),
  },
  {
    title: 'controller revision',
    object: object('apps/v1', 'ControllerRevision', 'minimal', { revision: 1, data: { a: 1 } }),
  },
  { title: 'job', object: job('minimal') },
  {
    title: 'job with labels',
    object: job('labelled', {
      suspend: true,
      parallelism: 2,
      template: { metadata: { labels }, spec: jobTemplate.spec },
    }),
  },
  {
    title: 'cron job',
    object: object('batch/v1', 'CronJob', 'minimal', {
      spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: jobTemplate } } },
    }),
  },
  {
    title: 'disruption budget',
    object: object('policy/v1', 'PodDisruptionBudget', 'minimal', { spec: { minAvailable: 1, selector } }),
  },
  {
    title: 'autoscaler',
    object: object('autoscaling/v2', 'HorizontalPodAutoscaler', 'minimal', {
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' } },
    }),
  },
  {
    title: 'autoscaler with behaviour',
    object: object('autoscaling/v2', 'HorizontalPodAutoscaler', 'behaving', {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' },
        behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
      },
    }),
  },
  {
    title: 'ingress',
    object: object('networking.k8s.io/v1', 'Ingress', 'minimal', {
      spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
    }),
  },
  {
    title: 'ingress class',
    object: object('networking.k8s.io/v1', 'IngressClass', 'kinds-minimal', { spec: { controller: 'example.com/x' } }),
  },
  {
    title: 'network policy',
    object: object('networking.k8s.io/v1', 'NetworkPolicy', 'minimal', {
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }], egress: [{}] },
    }),
  },
  { title: 'lease', object: object('coordination.k8s.io/v1', 'Lease', 'minimal') },
  {
    title: 'lease that is held',
    object: object('coordination.k8s.io/v1', 'Lease', 'held', {
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        renewTime: '2026-01-02T03:04:05.000000Z',
        leaseTransitions: 0,
      },
    }),
  },
  { title: 'role', object: object('rbac.authorization.k8s.io/v1', 'Role', 'minimal') },
  {
    title: 'role binding',
    object: object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'minimal', {
      roleRef: { kind: 'Role', name: 'minimal' },
      subjects: [
        { kind: 'ServiceAccount', name: 'default' },
        { kind: 'User', name: 'ann' },
        { kind: 'Group', name: 'all' },
      ],
    }),
  },
  {
    title: 'cluster role',
    object: object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'kinds-minimal', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
  },
  {
    title: 'cluster role binding',
    object: object('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'kinds-minimal', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kinds-minimal' },
    }),
  },
  {
    title: 'mutating webhook',
    object: object('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'kinds-minimal', {
      webhooks: [
        webhook({
          rules: [{ apiGroups: ['x.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['xs'] }],
        }),
      ],
    }),
  },
  {
    title: 'validating webhook',
    object: object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'kinds-minimal', {
      webhooks: [webhook({ clientConfig: { service: { name: 'a', namespace: 'b' } } })],
    }),
  },
  { title: 'custom resource definition', object: crd() },
  { title: 'priority class', object: object('scheduling.k8s.io/v1', 'PriorityClass', 'kinds-minimal', { value: 5 }) },
  {
    title: 'storage class',
    object: object('storage.k8s.io/v1', 'StorageClass', 'kinds-minimal', { provisioner: 'example.com/x' }),
  },
  {
    title: 'limit range',
    object: object('v1', 'LimitRange', 'minimal', {
      spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '100m' } }] },
    }),
  },
  {
    title: 'resource quota',
    object: object('v1', 'ResourceQuota', 'minimal', { spec: { hard: { services: '1000' } } }),
  },
  {
    title: 'API service',
    object: object('apiregistration.k8s.io/v1', 'APIService', 'v1.kinds.example.org', {
      spec: {
        group: 'kinds.example.org',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        service: { name: 'a', namespace: 'b' },
      },
    }),
  },
  { title: 'runtime class', object: object('node.k8s.io/v1', 'RuntimeClass', 'kinds-minimal', { handler: 'x' }) },
  { title: 'CSI driver', object: object('storage.k8s.io/v1', 'CSIDriver', 'kinds-minimal', { spec: {} }) },
]

const rename = (of: Body, metadata: Body): Body => ({ ...of, metadata: { ...(of['metadata'] as Body), ...metadata } })

/** Objects that are rejected. */
export const REFUSED: readonly Case[] = [
  { title: 'bad name', object: object('v1', 'ConfigMap', 'Bad_Name') },
  { title: 'long name', object: object('v1', 'ConfigMap', 'a'.repeat(254)) },
  { title: 'bad label value', object: rename(object('v1', 'ConfigMap', 'a'), { labels: { a: 'not valid' } }) },
  { title: 'bad label key', object: rename(object('v1', 'ConfigMap', 'a'), { labels: { 'a/b/c': 'x' } }) },
  { title: 'bad label prefix', object: rename(object('v1', 'ConfigMap', 'a'), { labels: { 'A_b/': 'x' } }) },
  {
    title: 'bad annotation key',
    object: rename(object('v1', 'ConfigMap', 'a'), { annotations: { 'not valid': 'x' } }),
  },
  {
    title: 'large annotations',
    object: rename(object('v1', 'ConfigMap', 'a'), { annotations: { a: 'x'.repeat(262_145) } }),
  },
  { title: 'bad finalizer', object: rename(object('v1', 'ConfigMap', 'a'), { finalizers: ['not valid'] }) },
  {
    title: 'incomplete owner',
    object: rename(object('v1', 'ConfigMap', 'a'), {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }],
    }),
  },
  {
    title: 'two controllers',
    object: rename(object('v1', 'ConfigMap', 'a'), {
      ownerReferences: ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true })),
    }),
  },
  { title: 'bad config map key', object: object('v1', 'ConfigMap', 'a', { data: { 'not valid': 'x' } }) },
  {
    title: 'config map key twice',
    object: object('v1', 'ConfigMap', 'a', { data: { a: 'x' }, binaryData: { a: 'AAE=' } }),
  },
  { title: 'config map key ..', object: object('v1', 'ConfigMap', 'a', { data: { '..a': 'x' } }) },
  { title: 'bad secret key', object: object('v1', 'Secret', 'a', { stringData: { 'not valid': 'x' } }) },
  { title: 'TLS secret without data', object: object('v1', 'Secret', 'a', { type: 'kubernetes.io/tls' }) },
  {
    title: 'docker secret without data',
    object: object('v1', 'Secret', 'a', { type: 'kubernetes.io/dockerconfigjson' }),
  },
  {
    title: 'basic-auth secret without data',
    object: object('v1', 'Secret', 'a', { type: 'kubernetes.io/basic-auth' }),
  },
  {
    title: 'token secret without account',
    object: object('v1', 'Secret', 'a', { type: 'kubernetes.io/service-account-token' }),
  },
  { title: 'bad namespace name', object: object('v1', 'Namespace', 'kinds.minimal') },
  { title: 'no spec', object: object('v1', 'Pod', 'a') },
  { title: 'no containers', object: pod('a', { containers: [] }) },
  { title: 'no container name', object: pod('a', { containers: [{ image: 'nginx' }] }) },
  { title: 'no image', object: pod('a', { containers: [{ name: 'a' }] }) },
  { title: 'duplicate container', object: pod('a', { containers: [container, container] }) },
  { title: 'bad container name', object: pod('a', { containers: [{ name: 'Bad', image: 'nginx' }] }) },
  { title: 'init container of the same name', object: pod('a', { initContainers: [container] }) },
  {
    title: 'init container with a probe',
    object: pod('a', { initContainers: [{ name: 'b', image: 'b', livenessProbe: { httpGet: { port: 1 } } }] }),
  },
  { title: 'bad pull policy', object: podWith('a', { imagePullPolicy: 'Sometimes' }) },
  { title: 'bad restart policy', object: pod('a', { restartPolicy: 'Sometimes' }) },
  { title: 'bad DNS policy', object: pod('a', { dnsPolicy: 'Other' }) },
  { title: 'port out of range', object: podWith('a', { ports: [{ containerPort: 70_000 }] }) },
  { title: 'no port', object: podWith('a', { ports: [{ name: 'x' }] }) },
  { title: 'bad port name', object: podWith('a', { ports: [{ containerPort: 80, name: 'Much-Too-Long-A-Name' }] }) },
  {
    title: 'duplicate port name',
    object: podWith('a', {
      ports: [
        { containerPort: 80, name: 'x' },
        { containerPort: 81, name: 'x' },
      ],
    }),
  },
  { title: 'bad protocol', object: podWith('a', { ports: [{ containerPort: 80, protocol: 'HTTP' }] }) },
  { title: 'no such volume', object: podWith('a', { volumeMounts: [{ name: 'none', mountPath: '/x' }] }) },
  {
    title: 'mount without path',
    object: pod('a', { volumes: [{ name: 'v' }], containers: [{ ...container, volumeMounts: [{ name: 'v' }] }] }),
  },
  {
    title: 'mount path twice',
    object: pod('a', {
      volumes: [{ name: 'v' }, { name: 'v' }],
      containers: [
        {
          ...container,
          volumeMounts: [
            { name: 'v', mountPath: '/x' },
            { name: 'v', mountPath: '/x' },
          ],
        },
      ],
    }),
  },
  {
    title: 'two volume sources',
    object: pod('a', { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] }),
  },
  { title: 'volume without name', object: pod('a', { volumes: [{ emptyDir: {} }] }) },
  { title: 'secret volume without name', object: pod('a', { volumes: [{ name: 'v', secret: {} }] }) },
  {
    title: 'claim volume without name',
    object: pod('a', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: '' } }] }),
  },
  {
    title: 'request above limit',
    object: podWith('a', { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
  },
  { title: 'negative request', object: podWith('a', { resources: { requests: { cpu: '-1' } } }) },
  { title: 'unknown resource', object: podWith('a', { resources: { limits: { foo: '1' } } }) },
  {
    title: 'fractional extended resource',
    object: podWith('a', { resources: { limits: { 'example.com/gpu': '1500m' } } }),
  },
  { title: 'probe without handler', object: podWith('a', { livenessProbe: {} }) },
  {
    title: 'probe with two handlers',
    object: podWith('a', { livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
  },
  {
    title: 'liveness with success threshold',
    object: podWith('a', { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
  },
  { title: 'probe with bad port', object: podWith('a', { readinessProbe: { httpGet: { port: 0 } } }) },
  {
    title: 'negative probe period',
    object: podWith('a', { readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: -1 } }),
  },
  { title: 'exec without command', object: podWith('a', { readinessProbe: { exec: {} } }) },
  { title: 'env without name', object: podWith('a', { env: [{ value: 'x' }] }) },
  { title: 'env with bad name', object: podWith('a', { env: [{ name: 'a=b', value: 'x' }] }) },
  { title: 'env without source', object: podWith('a', { env: [{ name: 'a', valueFrom: {} }] }) },
  {
    title: 'env with value and source',
    object: podWith('a', { env: [{ name: 'a', value: 'x', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }] }),
  },
  {
    title: 'env with bad field',
    object: podWith('a', { env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'spec.foo' } } }] }),
  },
  {
    title: 'env without key',
    object: podWith('a', { env: [{ name: 'a', valueFrom: { secretKeyRef: { name: 's', key: '' } } }] }),
  },
  { title: 'bad node selector', object: pod('a', { nodeSelector: { 'a b': 'x' } }) },
  { title: 'bad hostname', object: pod('a', { hostname: 'Not.Valid' }) },
  {
    title: 'bad account name',
    object: pod('a', { serviceAccountName: 'Not Valid', automountServiceAccountToken: false }),
  },
  { title: 'negative grace', object: pod('a', { activeDeadlineSeconds: 0 }) },
  {
    title: 'bad toleration',
    object: pod('a', {
      tolerations: [
        { key: 'a', operator: 'Exists', value: 'x' },
        { operator: 'Equal' },
        { key: 'a', operator: 'Maybe' },
      ],
    }),
  },
  { title: 'deployment without anything', object: object('apps/v1', 'Deployment', 'a') },
  { title: 'selector does not match', object: deployment('a', { selector: { matchLabels: { app: 'other' } } }) },
  { title: 'empty selector', object: deployment('a', { selector: {} }) },
  {
    title: 'bad selector operator',
    object: deployment('a', { selector: { matchExpressions: [{ key: 'app', operator: 'Is' }] } }),
  },
  { title: 'bad selector value', object: deployment('a', { selector: { matchLabels: { app: 'not valid' } } }) },
  { title: 'negative replicas', object: deployment('a', { replicas: -1 }) },
  {
    title: 'neither surge nor unavailable',
    object: deployment('a', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  },
  {
    title: 'bad surge',
    object: deployment('a', { strategy: { rollingUpdate: { maxSurge: 'x', maxUnavailable: '150%' } } }),
  },
  { title: 'bad strategy', object: deployment('a', { strategy: { type: 'Blue' } }) },
  {
    title: 'recreate with rolling update',
    object: deployment('a', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
  },
  {
    title: 'deployment that never restarts',
    object: deployment('a', { template: templateOf({ restartPolicy: 'Never' }) }),
  },
  { title: 'short deadline', object: deployment('a', { progressDeadlineSeconds: 5, minReadySeconds: 5 }) },
  {
    title: 'replica set with bad template',
    object: object('apps/v1', 'ReplicaSet', 'a', {
      spec: { selector, template: { metadata: { labels: { app: 'x' } }, spec: {} } },
    }),
  },
  { title: 'stateful set with dots', object: statefulSet('a.b') },
  {
    title: 'stateful set with bad policy',
    object: statefulSet('a', { podManagementPolicy: 'x', updateStrategy: { type: 'y' } }),
  },
  { title: 'stateful set without selector', object: statefulSet('a', { selector: null }) },
  {
    title: 'daemon set that never restarts',
    object: object('apps/v1', 'DaemonSet', 'a', {
      spec: { selector, template: templateOf({ restartPolicy: 'Never' }) },
    }),
  },
  {
    title: 'replication controller without template',
    object: object('v1', 'ReplicationController', 'a', { spec: {} }),
  },
  { title: 'job that always restarts', object: job('a', { template }) },
  { title: 'job without restart policy', object: job('a', { template: { spec: { containers: [container] } } }) },
  {
    title: 'job with negative numbers',
    object: job('a', {
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
    }),
  },
  { title: 'job with selector', object: job('a', { selector }) },
  { title: 'job without template', object: object('batch/v1', 'Job', 'a', { spec: {} }) },
  {
    title: 'cron job with bad schedule',
    object: object('batch/v1', 'CronJob', 'a', {
      spec: { schedule: 'x', jobTemplate: { spec: { template: jobTemplate } } },
    }),
  },
  {
    title: 'cron job without schedule',
    object: object('batch/v1', 'CronJob', 'a', { spec: { jobTemplate: { spec: { template: jobTemplate } } } }),
  },
  {
    title: 'cron job with bad policy',
    object: object('batch/v1', 'CronJob', 'a', {
      spec: {
        schedule: '* * * * *',
        concurrencyPolicy: 'x',
        timeZone: 'Nowhere',
        jobTemplate: { spec: { template: jobTemplate } },
      },
    }),
  },
  { title: 'service without ports', object: service('a', {}) },
  { title: 'service with bad name', object: service('1.a', { ports: [{ port: 80 }] }) },
  { title: 'service with bad type', object: service('a', { type: 'Other', ports: [{ port: 80 }] }) },
  { title: 'service with unnamed ports', object: service('a', { ports: [{ port: 80 }, { port: 81 }] }) },
  {
    title: 'service with duplicate port',
    object: service('a', {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    }),
  },
  { title: 'service with bad port', object: service('a', { ports: [{ port: 0, targetPort: 70_000 }] }) },
  { title: 'service with bad protocol', object: service('a', { ports: [{ port: 80, protocol: 'x' }] }) },
  { title: 'service with bad selector', object: service('a', { ports: [{ port: 80 }], selector: { 'a b': 'x y' } }) },
  { title: 'service with bad clusterIP', object: service('a', { ports: [{ port: 80 }], clusterIP: 'x' }) },
  { title: 'service with foreign clusterIP', object: service('a', { ports: [{ port: 80 }], clusterIP: '1.2.3.4' }) },
  {
    title: 'service with node port of another range',
    object: service('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
  },
  { title: 'cluster service with node port', object: service('a', { ports: [{ port: 80, nodePort: 30_080 }] }) },
  { title: 'service with bad affinity', object: service('a', { ports: [{ port: 80 }], sessionAffinity: 'x' }) },
  { title: 'external service without name', object: service('a', { type: 'ExternalName' }) },
  { title: 'claim without anything', object: object('v1', 'PersistentVolumeClaim', 'a', { spec: {} }) },
  { title: 'claim with bad mode', object: claim('a', { accessModes: ['x'], volumeMode: 'y' }) },
  { title: 'claim of nothing', object: claim('a', { resources: { requests: { storage: '0' } } }) },
  { title: 'volume without anything', object: object('v1', 'PersistentVolume', 'kinds-a', { spec: {} }) },
  {
    title: 'node with bad taint',
    object: object('v1', 'Node', 'kinds-a', { spec: { taints: [{ key: 'a b', effect: 'x' }] } }),
  },
  {
    title: 'budget with both',
    object: object('policy/v1', 'PodDisruptionBudget', 'a', {
      spec: { minAvailable: 1, maxUnavailable: '200%', selector },
    }),
  },
  {
    title: 'budget with negative',
    object: object('policy/v1', 'PodDisruptionBudget', 'a', { spec: { minAvailable: -1, selector } }),
  },
  {
    title: 'autoscaler without anything',
    object: object('autoscaling/v2', 'HorizontalPodAutoscaler', 'a', { spec: {} }),
  },
  {
    title: 'autoscaler with inverted range',
    object: object('autoscaling/v2', 'HorizontalPodAutoscaler', 'a', {
      spec: { minReplicas: 3, maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'a' } },
    }),
  },
  { title: 'ingress without anything', object: object('networking.k8s.io/v1', 'Ingress', 'a', { spec: {} }) },
  {
    title: 'ingress with bad path',
    object: object('networking.k8s.io/v1', 'Ingress', 'a', {
      spec: {
        rules: [
          {
            host: 'Not Valid',
            http: {
              paths: [
                { path: 'x', pathType: 'Prefix', backend: { service: { name: 'a' } } },
                { path: '/', backend: {} },
              ],
            },
          },
        ],
      },
    }),
  },
  {
    title: 'network policy with bad type',
    object: object('networking.k8s.io/v1', 'NetworkPolicy', 'a', { spec: { podSelector: {}, policyTypes: ['x'] } }),
  },
  {
    title: 'lease of no duration',
    object: object('coordination.k8s.io/v1', 'Lease', 'a', { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
  },
  {
    title: 'role without verbs',
    object: object('rbac.authorization.k8s.io/v1', 'Role', 'a', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }],
    }),
  },
  {
    title: 'role with URLs',
    object: object('rbac.authorization.k8s.io/v1', 'Role', 'a', {
      rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
    }),
  },
  {
    title: 'role with nothing',
    object: object('rbac.authorization.k8s.io/v1', 'Role', 'a', { rules: [{ verbs: ['get'] }] }),
  },
  {
    title: 'binding of another kind',
    object: object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'a', {
      roleRef: { kind: 'Pod', name: '' },
      subjects: [{ kind: 'x', name: '' }],
    }),
  },
  {
    title: 'cluster binding without namespace',
    object: object('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'a', {
      roleRef: { kind: 'ClusterRole', name: 'x' },
      subjects: [{ kind: 'ServiceAccount', name: 'x' }],
    }),
  },
  {
    title: 'webhook without anything',
    object: object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'kinds-a', {
      webhooks: [{ name: 'x', clientConfig: {}, sideEffects: 'Some', admissionReviewVersions: [] }],
    }),
  },
  {
    title: 'webhook with bad values',
    object: object('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'kinds-a', {
      webhooks: [
        webhook({
          failurePolicy: 'x',
          matchPolicy: 'x',
          timeoutSeconds: 31,
          reinvocationPolicy: 'x',
          rules: [{ operations: ['x'], apiGroups: [], apiVersions: [''], resources: ['*', 'pods'], scope: 'x' }],
          clientConfig: { url: 'http://x' },
        }),
      ],
    }),
  },
  {
    title: 'two webhooks of one name',
    object: object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'kinds-a', {
      webhooks: [webhook(), webhook()],
    }),
  },
  {
    title: 'storage class without provisioner',
    object: object('storage.k8s.io/v1', 'StorageClass', 'kinds-a', { provisioner: '' }),
  },
  {
    title: 'priority class too high',
    object: object('scheduling.k8s.io/v1', 'PriorityClass', 'kinds-a', { value: 2_000_000_000 }),
  },
  {
    title: 'event in another namespace',
    object: object('v1', 'Event', 'a', { involvedObject: { kind: 'Pod', namespace: 'other', name: 'a' } }),
  },
  {
    title: 'endpoints with bad address',
    object: object('v1', 'Endpoints', 'a', { subsets: [{ addresses: [{ ip: 'x' }], ports: [{ port: 0 }] }] }),
  },
  {
    title: 'slice with bad address',
    object: object('discovery.k8s.io/v1', 'EndpointSlice', 'a', {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['x'] }],
      ports: [{ port: 0 }],
    }),
  },
  { title: 'CRD with wrong name', object: crd({ group: 'other.example.com' }) },
  {
    title: 'CRD without storage',
    object: crd({
      versions: [{ name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } }],
    }),
  },
  {
    title: 'CRD with two storages',
    object: crd({
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    }),
  },
  {
    title: 'CRD with one version twice',
    object: crd({
      versions: [true, false].map((storage) => ({
        name: 'v1',
        served: true,
        storage,
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    }),
  },
  { title: 'CRD without schema', object: crd({ versions: [{ name: 'v1', served: true, storage: true }] }) },
  { title: 'CRD without versions', object: crd({ versions: [] }) },
  { title: 'CRD with bad scope', object: crd({ scope: 'Galactic' }) },
  {
    title: 'CRD with bad names',
    object: crd({}, { kind: 'bad_kind', singular: 'Bad', shortNames: ['W'], categories: ['A'], listKind: 'bad_kind' }),
  },
  { title: 'CRD with kind as list kind', object: crd({}, { listKind: 'Widget' }) },
  {
    title: 'CRD with bad version name',
    object: crd({
      versions: [{ name: 'V1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    }),
  },
  {
    title: 'CRD with bad scale paths',
    object: crd({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          subresources: {
            scale: { specReplicasPath: 'spec.replicas', statusReplicasPath: '.spec.replicas', labelSelectorPath: '.x' },
          },
        },
      ],
    }),
  },
  {
    title: 'CRD with empty scale',
    object: crd({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          subresources: { scale: { specReplicasPath: '', statusReplicasPath: '' } },
        },
      ],
    }),
  },
  {
    title: 'CRD with bad columns',
    object: crd({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          additionalPrinterColumns: [
            { name: '', type: 'x', jsonPath: 'x' },
            { name: 'a', type: 'string', jsonPath: '' },
            { name: 'a', type: 'integer', format: 'x', jsonPath: '.x[' },
          ],
        },
      ],
    }),
  },
  {
    title: 'CRD with untyped root',
    object: crd({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: {} } }] }),
  },
  { title: 'CRD with webhook conversion and nothing else', object: crd({ conversion: { strategy: 'Webhook' } }) },
  { title: 'CRD with unknown conversion', object: crd({ conversion: { strategy: 'x' } }) },
  { title: 'CRD with preserveUnknownFields', object: crd({ preserveUnknownFields: true }) },
  {
    title: 'CRD in a protected group',
    object: object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.x.k8s.io', {
      spec: {
        group: 'x.k8s.io',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }),
  },
  {
    title: 'CRD with bad selectable fields',
    object: crd({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'object' }, b: { type: 'string' } } } },
          selectableFields: [
            { jsonPath: '.a' },
            { jsonPath: '.none' },
            { jsonPath: '' },
            { jsonPath: '.b' },
            { jsonPath: '.b' },
          ],
        },
      ],
    }),
  },
]

/** Updates that are rejected. */
export const CHANGED: readonly Case[] = [
  {
    title: 'deployment selector',
    object: deployment('change', { replicas: 0 }),
    patch: { spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } } } } },
  },
  {
    title: 'replica set selector',
    object: object('apps/v1', 'ReplicaSet', 'change', { spec: { replicas: 0, selector, template } }),
    patch: { spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } } } } },
  },
  {
    title: 'stateful set service',
    object: statefulSet('change', { replicas: 0 }),
    patch: { spec: { serviceName: 'other' } },
  },
  {
    title: 'daemon set selector',
    object: object('apps/v1', 'DaemonSet', 'change', { spec: { selector, template } }),
    patch: { spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } } } } },
  },
  { title: 'job completions', object: job('change', { suspend: true }), patch: { spec: { completions: 2 } } },
  {
    title: 'job completion mode',
    object: job('change', { suspend: true }),
    patch: { spec: { completionMode: 'Indexed' } },
  },
  { title: 'secret type', object: object('v1', 'Secret', 'change'), patch: { type: 'other' } },
  {
    title: 'immutable secret',
    object: object('v1', 'Secret', 'change', { immutable: true, data: { a: 'YQ==' } }),
    patch: { immutable: false, data: { a: 'Yg==' } },
  },
  {
    title: 'immutable config map',
    object: object('v1', 'ConfigMap', 'change', { immutable: true, data: { a: 'a' } }),
    patch: { immutable: null, data: { a: 'b' } },
  },
  {
    title: 'service address',
    object: service('change', { ports: [{ port: 80 }] }),
    patch: { spec: { clusterIP: '10.0.0.202', clusterIPs: ['10.0.0.202'] } },
  },
  {
    title: 'service without address',
    object: service('change', { ports: [{ port: 80 }] }),
    patch: { spec: { clusterIP: 'None' } },
  },
  {
    title: 'claim size without class',
    object: claim('change'),
    patch: { spec: { resources: { requests: { storage: '2Gi' } } } },
  },
  { title: 'claim access modes', object: claim('change'), patch: { spec: { accessModes: ['ReadWriteMany'] } } },
  {
    title: 'pod containers',
    object: pod('change', { nodeSelector: { none: 'none' } }),
    patch: { spec: { containers: [container, { name: 'b', image: 'b' }] } },
  },
  {
    title: 'pod deadline',
    object: pod('change', { nodeSelector: { none: 'none' }, activeDeadlineSeconds: 5 }),
    patch: { spec: { activeDeadlineSeconds: 6 } },
  },
  {
    title: 'pod tolerations',
    object: pod('change', { nodeSelector: { none: 'none' } }),
    patch: { spec: { tolerations: [] } },
  },
  {
    title: 'role reference',
    object: object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'change', { roleRef: { kind: 'Role', name: 'a' } }),
    patch: { roleRef: { name: 'b' } },
  },
  {
    title: 'storage class provisioner',
    object: object('storage.k8s.io/v1', 'StorageClass', 'kinds-change', { provisioner: 'a.example.com' }),
    patch: { provisioner: 'b.example.com', parameters: { a: 'b' }, reclaimPolicy: 'Retain' },
  },
  {
    title: 'priority',
    object: object('scheduling.k8s.io/v1', 'PriorityClass', 'kinds-change', { value: 5 }),
    patch: { value: 6 },
  },
  {
    title: 'controller revision',
    object: object('apps/v1', 'ControllerRevision', 'change', { revision: 1, data: { a: 1 } }),
    patch: { data: { a: 2 } },
  },
  { title: 'CRD scope', object: crd(), patch: { spec: { scope: 'Cluster' } } },
  {
    title: 'slice address type',
    object: object('discovery.k8s.io/v1', 'EndpointSlice', 'change', { addressType: 'IPv4', endpoints: [] }),
    patch: { addressType: 'IPv6' },
  },
  {
    title: 'bad label on update',
    object: object('v1', 'ConfigMap', 'change'),
    patch: { metadata: { labels: { a: 'not valid' } } },
  },
]
