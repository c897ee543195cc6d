/** Values that switch each part of the chart on and off, for tests with our own engine and with Helm. */
import type { RenderOptions, Values } from './render.ts'

export interface Switch {
  readonly title: string
  readonly values: Values
  readonly apiVersions?: RenderOptions['apiVersions']
}

const KEYS = ['applications', 'leaseControllers', 'claims', 'databases'] as const

/** Values with only one operator on. */
export function only(key: (typeof KEYS)[number], values: Values = {}): Values {
  const others = KEYS.filter((each) => each !== key).map((each) => [each, { enabled: false }])
  return { ...Object.fromEntries(others), [key]: { enabled: true, ...values } }
}

const database = { host: 'postgresql.platform.svc' }
const PEER = [{ namespaceSelector: { matchLabels: { team: 'a' } } }]
const ALONE = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { team: 'b' } } }
const POD = {
  replicaCount: 1,
  podAnnotations: { 'example.com/a': 'b' },
  podLabels: { team: 'a' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'spot', operator: 'Exists' }],
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [ALONE] } },
  priorityClassName: 'system-cluster-critical',
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
  ],
  env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca.pem' }],
  podDisruptionBudget: { enabled: false },
  serviceAccount: { create: false, name: 'mine' },
  resources: { limits: { memory: '1Gi' } },
}
const MONITORING = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule'].map((kind) => `monitoring.coreos.com/v1/${kind}`)

export const switches: readonly Switch[] = [
  { title: 'the defaults', values: {} },
  { title: 'nothing', values: { ...only('claims'), claims: { enabled: false } } },
  { title: 'everything', values: { databases: { enabled: true, database } } },
  ...KEYS.map((key) => ({
    title: `only ${key}`,
    values: only(key, key === 'databases' ? { database } : {}),
  })),
  ...KEYS.map((key) => ({
    title: `${key} with the settings of its pods`,
    values: only(key, { ...POD, ...(key === 'databases' && { database }) }),
  })),
  { title: 'definitions of the operators', values: { crds: { installedBy: 'operator' } } },
  { title: 'no definitions', values: { crds: { installedBy: 'none' } } },
  { title: 'definitions that are not kept', values: { crds: { keep: false } } },
  { title: 'no roles', values: { rbac: { create: false } } },
  { title: 'no aggregated roles', values: { rbac: { aggregate: false } } },
  {
    title: 'names, labels and images',
    values: {
      fullnameOverride: 'ops',
      labels: { team: 'platform' },
      image: { repository: 'example.com/tenure', digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always' },
      cleanupImage: { repository: 'example.com/cleanup', tag: '1' },
      imagePullSecrets: [{ name: 'registry' }],
      log: { level: 'debug', format: 'text' },
    },
  },
  {
    title: 'network policies',
    values: {
      networkPolicy: { enabled: true, from: PEER, metricsFrom: PEER, egress: [{ ports: [{ port: 443 }] }] },
      databases: { enabled: true, database },
    },
  },
  { title: 'network policies without peers', values: { networkPolicy: { enabled: true } } },
  { title: 'monitoring', values: { databases: { enabled: true, database } }, apiVersions: MONITORING },
  {
    title: 'monitoring with labels, a token and a dashboard',
    apiVersions: MONITORING,
    values: {
      monitoring: {
        serviceMonitor: {
          labels: { release: 'prometheus' },
          authorization: { credentials: { name: 'token', key: 'token' } },
        },
        podMonitor: { labels: { release: 'prometheus' } },
        prometheusRule: { labels: { release: 'prometheus' } },
        prometheus: { namespace: 'monitoring', serviceAccount: 'prometheus' },
        dashboard: { enabled: true },
      },
    },
  },
  {
    title: 'no monitoring',
    apiVersions: MONITORING,
    values: {
      monitoring: {
        serviceMonitor: { enabled: false },
        podMonitor: { enabled: false },
        prometheusRule: { enabled: false },
      },
    },
  },
  {
    title: 'applications of one namespace, without webhooks and tokens',
    values: only('applications', { settings: { namespace: 'default', webhooks: false, auth: 'none' } }),
  },
  {
    title: 'applications with TLS, new namespaces and an image policy',
    values: only('applications', {
      tls: { secretName: 'tls' },
      settings: { createNamespaces: true, allowedRegistries: ['gcr.io', '*.example.com'], concurrency: 16 },
    }),
  },
  { title: 'lease admission', values: only('leaseControllers', { settings: { leaseAdmission: true } }) },
  {
    title: 'shared lease controllers',
    values: only('leaseControllers', {
      settings: { leaseControllerMode: 'shared', createDefaultLeaseControllers: true, cleanupImages: ['a/*', 'b'] },
      sharedKinds: [
        { group: 'apps', plural: 'deployments' },
        { group: '', plural: 'pods' },
      ],
    }),
  },
  {
    title: 'claims without tokens, in another namespace',
    values: only('claims', { settings: { auth: 'none', namespace: 'default', defaultTtl: '5m' } }),
  },
  {
    title: 'claims with a template, pools and Secrets',
    values: only('claims', {
      template: 'kind: Pod\nname: {{ .Release.Name }}',
      templateValues: 'a: 1',
      files: { 'chrome.yaml': 'kind: Pod' },
      rbac: { secrets: true, templateRules: [] },
      tls: { secretName: 'tls' },
      settings: { pools: { chrome: { templatePath: '/etc/claim-controller/chrome.yaml', count: 2 } } },
    }),
  },
  {
    title: 'claims with values for the template of the image',
    values: only('claims', { templateValues: 'image: nginx' }),
  },
  {
    title: 'databases with settings',
    values: only('databases', {
      database: { ...database, port: 6432, sslMode: 'verify-full' },
      settings: { watchAllNamespaces: true, workerCount: 8, backoffMax: '10m' },
    }),
  },
  {
    title: 'objects of the user',
    values: {
      extraObjects: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-extra' }, data: { a: 'b' } },
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Namespace }}-text }',
      ],
    },
  },
]
