import { claimRules, claimsConfig } from '@tenure/claims'
import type { Deployment, Service, ServiceAccount } from '@tenure/kube/kinds'

import { operatorDeployment } from './deployment.ts'
import { type ManifestEntry, type ManifestOptions, usedAs } from './entry.ts'
import { bindingFor, roleFor } from './rbac.ts'

const NAME = 'claim-controller'
/** The default of NAMESPACE. */
const NAMESPACE = claimsConfig.namespace.default

const labels = { app: NAME, 'app.kubernetes.io/name': NAME }
const here = { name: NAME, namespace: NAMESPACE, labels }

const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1))
const API_PORT = portOf(claimsConfig.apiAddr.default)
const METRICS_PORT = portOf(claimsConfig.metricsBindAddress.default)
const PROBE_PORT = portOf(claimsConfig.healthProbeBindAddress.default)

/** The account of the claims operator and its Role in one namespace. */
export function claimsRoleEntries({ apply }: Pick<ManifestOptions, 'apply'>): readonly ManifestEntry[] {
  const account: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: here }
  return [
    {
      comment: [
        'Access of the claims operator: one namespace, and nothing cluster-wide.',
        '',
        ...apply.split('\n').map(usedAs),
        '',
        'For another namespace, replace "default" everywhere.',
      ],
      object: account,
    },
    {
      comment: [
        'Pods and Services are the kinds of the default template: a template with other kinds needs get, list, watch and create',
        'of them here. A template with Secrets, or callers that send values, need the same and patch of secrets.',
      ],
      object: roleFor(here, claimRules()),
    },
    { object: bindingFor(here, here) },
  ]
}

/** The claims operator: two replicas serve, one of them fills the pool. */
export function claimsDeploymentEntries({ image }: Pick<ManifestOptions, 'image'>): readonly ManifestEntry[] {
  return [
    {
      comment: [
        'The claims operator: two replicas; both hand out claims, one fills the pool.',
        '',
        'AUTH is none, because checking tokens needs access outside of the namespace: every client that reaches port 8080 can take',
        'claims. Limit who that is by a NetworkPolicy, or set AUTH to token and bind the ClusterRole system:auth-delegator',
        'to the account.',
      ],
      object: deployment(image),
    },
    { object: service() },
  ]
}

const probe = (path: string) => ({ httpGet: { path, port: 'probes' } })

function deployment(image = 'tenure:latest'): Deployment {
  return operatorDeployment(here, {
    replicas: 2,
    image,
    command: 'claims',
    env: [
      { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'AUTH', value: 'none' },
      { name: 'PRE_PROVISION_CLAIMS_COUNT', value: '3' },
    ],
    ports: [
      { name: 'api', containerPort: API_PORT },
      { name: 'metrics', containerPort: METRICS_PORT },
      { name: 'probes', containerPort: PROBE_PORT },
    ],
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  })
}

function service(): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: here,
    spec: {
      selector: { app: NAME },
      ports: [
        { name: 'api', port: API_PORT, targetPort: 'api' },
        { name: 'metrics', port: METRICS_PORT, targetPort: 'metrics' },
      ],
    },
  }
}
