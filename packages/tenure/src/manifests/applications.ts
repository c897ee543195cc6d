import { Application, applicationsConfig, clusterRules, namespaceRules, OPERATOR } from '@tenure/applications'
import type { ClusterRole, Deployment, Namespace, Service, ServiceAccount } from '@tenure/kube/kinds'

import { operatorDeployment } from './deployment.ts'
import { type ManifestEntry, type ManifestOptions, usedAs } from './entry.ts'
import { bindingFor, RBAC, roleFor } from './rbac.ts'

const NAMESPACE = 'elide-system'
const HTTP_PORT = applicationsConfig.port.default
const WEBHOOK_PORT = applicationsConfig.webhookPort.default

const labels = { app: OPERATOR, 'app.kubernetes.io/name': OPERATOR }
const here = { name: OPERATOR, namespace: NAMESPACE, labels }
const everywhere = { name: OPERATOR, labels }

/** The Applications operator for a cluster, with its RBAC, Service and Deployment. */
export function applicationsEntries({ apply, applyDefinitions, image }: ManifestOptions): readonly ManifestEntry[] {
  return [
    {
      comment: [
        'The Applications operator: three replicas; one reconciles, all serve HTTP and webhooks.',
        '',
        usedAs(apply),
        '  kubectl -n elide-system rollout status deployment/elide-operator',
        '',
        'The operator installs and upgrades its CustomResourceDefinition. To install it yourself, run',
        `"${applyDefinitions}", set INSTALL_DEFINITIONS to "false",`,
        'and remove create and patch of customresourcedefinitions from the ClusterRole.',
      ],
      object: namespace(),
    },
    { object: serviceAccount() },
    {
      comment: ['What the operator may do in all namespaces and on cluster-scoped objects. It cannot read Secrets.'],
      object: roleFor(everywhere, clusterRules()),
    },
    { object: bindingFor(everywhere, here) },
    {
      comment: ["What it does at home: stand for election, and keep its webhooks' certificate."],
      object: roleFor(here, namespaceRules()),
    },
    { object: bindingFor(here, here) },
    {
      comment: [
        'Grants access to Applications, with kubectl or with a token over the HTTP API, to subjects that may edit or',
        'view in a namespace.',
      ],
      object: aggregatedRole('edit', ['admin', 'edit'], ['create', 'update', 'patch', 'delete', 'deletecollection']),
    },
    { object: aggregatedRole('view', ['view', 'edit', 'admin'], ['get', 'list', 'watch']) },
    {
      comment: ['Grants access to metrics: bind it to the ServiceAccount of Prometheus.'],
      object: metricsRole(),
    },
    {
      comment: [
        'In a cluster the operator listens on all addresses (LISTEN_HOST), so callers need a bearer token that',
        'the API server accepts, and RBAC decides what they may do: "get applications", or get of the path /metrics.',
        '/healthz and /readyz need no token, so that probes work. AUTH: none opens everything else, including metrics, to',
        'all clients that reach the pods: use it only behind a NetworkPolicy. Tokens must not travel in clear text: set',
        'TLS_CERT_FILE and TLS_KEY_FILE, and the scheme of the probes to HTTPS, unless the network is encrypted.',
        '',
        'While no replica runs, writes to Applications are rejected (WEBHOOK_FAILURE_POLICY: Ignore lets them',
        'through). The webhooks affect no other kind.',
      ],
      object: deployment(image),
    },
    { object: service() },
  ]
}

function namespace(): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
}

function serviceAccount(): ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: here }
}

function aggregatedRole(name: string, into: readonly string[], verbs: readonly string[]): ClusterRole {
  const aggregate = Object.fromEntries(into.map((role) => [`${RBAC}/aggregate-to-${role}`, 'true']))
  const resources = [Application.plural, ...(name === 'edit' ? [`${Application.plural}/scale`] : [])]
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: `${OPERATOR}-applications-${name}`, labels: { ...labels, ...aggregate } },
    rules: [{ apiGroups: [Application.group], resources, verbs }],
  }
}

function metricsRole(): ClusterRole {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: `${OPERATOR}-metrics`, labels },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  }
}

function deployment(image = `${OPERATOR}:latest`): Deployment {
  const probe = (path: string) => ({ httpGet: { path, port: HTTP_PORT } })
  return operatorDeployment(here, {
    replicas: 3,
    image,
    command: 'applications',
    env: [
      { name: 'ENABLE_LEADER_ELECTION', value: 'true' },
      { name: 'PORT', value: String(HTTP_PORT) },
      { name: 'LISTEN_HOST', value: '0.0.0.0' },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: OPERATOR } },
      },
    ],
    ports: [
      { name: 'http', containerPort: HTTP_PORT },
      { name: 'webhooks', containerPort: WEBHOOK_PORT },
    ],
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 10 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 5 },
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
  })
}

function service(): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: here,
    spec: {
      selector: { app: OPERATOR },
      ports: [
        { name: 'http', port: 80, targetPort: HTTP_PORT },
        { name: 'metrics', port: 8080, targetPort: HTTP_PORT },
        { name: 'webhooks', port: 443, targetPort: WEBHOOK_PORT },
      ],
    },
  }
}
