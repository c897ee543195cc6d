import {
  Application,
  applicationDefinition,
  applicationsTable,
  clusterRules,
  homeRules,
  OPERATOR,
} from '@tenure/applications'
import type { ClusterRole, Deployment, Namespace, Service, ServiceAccount } from '@tenure/kube/kinds'

import type { Entry } from './manifest.ts'
import { bindingFor, RBAC, roleFor } from './rbac.ts'

const NAMESPACE = 'elide-system'
const HTTP_PORT = applicationsTable.port.default
const WEBHOOK_PORT = applicationsTable.webhookPort.default

const labels = { app: OPERATOR, 'app.kubernetes.io/name': OPERATOR }
const here = { name: OPERATOR, namespace: NAMESPACE, labels }
const everywhere = { name: OPERATOR, labels }

/** The operator in a cluster, with all that it needs. */
export function applicationsEntries(): readonly Entry[] {
  return [
    {
      comment: [
        'The Applications operator: three replicas, of which one works and all answer.',
        '',
        '  kubectl apply -f deploy/applications.yaml',
        '  kubectl -n elide-system rollout status deployment/elide-operator',
        '',
        `It installs and upgrades its CustomResourceDefinition itself. Where that is not wanted, apply`,
        `deploy/crds/${applicationDefinition.metadata?.name}.yaml, set INSTALL_DEFINITIONS to "false",`,
        'and take create and patch of customresourcedefinitions out of the ClusterRole.',
      ],
      object: namespace(),
    },
    { object: serviceAccount() },
    {
      comment: ['What the operator does in any namespace, and outside of them. Nothing here reads a Secret.'],
      object: roleFor(everywhere, clusterRules()),
    },
    { object: bindingFor(everywhere, here) },
    {
      comment: ["What it does at home: stand for election, and keep its webhooks' certificate."],
      object: roleFor(here, homeRules()),
    },
    { object: bindingFor(here, here) },
    {
      comment: [
        'Who may work with Applications, through kubectl or with a token through the HTTP API: whoever may edit or',
        'view in a namespace.',
      ],
      object: aggregatedRole('edit', ['admin', 'edit'], ['create', 'update', 'patch', 'delete', 'deletecollection']),
    },
    { object: aggregatedRole('view', ['view', 'edit', 'admin'], ['get', 'list', 'watch']) },
    {
      comment: ['For whoever collects metrics: bind it to the ServiceAccount of Prometheus.'],
      object: metricsRole(),
    },
    {
      comment: [
        'In a cluster HTTP is listened for on all addresses (LISTEN_HOST), and then callers need a bearer token that',
        'the API server accepts, and the rights that RBAC gives them: "get applications", or get of the path /metrics.',
        '/healthz and /readyz are open to all, so that probes work. AUTH: none opens everything else, metrics too, to',
        'whoever reaches the pods: only behind a NetworkPolicy. Tokens should not travel in the clear: give',
        'TLS_CERT_FILE and TLS_KEY_FILE, and make the scheme of the probes HTTPS, unless the network encrypts.',
        '',
        'While no replica is there, writes to Applications are refused (WEBHOOK_FAILURE_POLICY: Ignore lets them',
        'through); nothing else ever waits for the webhooks.',
      ],
      object: deployment(),
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

function deployment(): Deployment {
  const probe = (path: string) => ({ httpGet: { path, port: HTTP_PORT } })
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: here,
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: OPERATOR } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: OPERATOR,
          // Longer than the operator takes at most to finish what is under way.
          terminationGracePeriodSeconds: 40,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: { app: OPERATOR } },
            },
          ],
          containers: [
            {
              name: 'operator',
              image: `${OPERATOR}:latest`,
              imagePullPolicy: 'IfNotPresent',
              args: ['applications'],
              env: [
                { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                { name: 'ENABLE_LEADER_ELECTION', value: 'true' },
                { name: 'PORT', value: String(HTTP_PORT) },
                { name: 'LISTEN_HOST', value: '0.0.0.0' },
              ],
              ports: [
                { name: 'http', containerPort: HTTP_PORT },
                { name: 'webhooks', containerPort: WEBHOOK_PORT },
              ],
              livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 10 },
              readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 5 },
              resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  }
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
