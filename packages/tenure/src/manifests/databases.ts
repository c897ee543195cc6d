import { databasesConfig, databasesRbac } from '@tenure/databases'
import type { Deployment, Namespace, Service, ServiceAccount } from '@tenure/kube/kinds'

import { operatorDeployment } from './deployment.ts'
import { type ManifestEntry, type ManifestOptions, usedAs } from './entry.ts'
import { bindingFor, roleFor } from './rbac.ts'

const NAME = 'nest-controller'
const NAMESPACE = 'nest-system'
const HEALTH_PORT = databasesConfig.healthCheckPort.default
const METRICS_PORT = databasesConfig.metricsPort.default

const labels = { app: NAME, 'app.kubernetes.io/name': NAME }
const here = { name: NAME, namespace: NAMESPACE, labels }
const everywhere = { name: NAME, labels }

/** The databases operator for a cluster, with its RBAC, Deployment and Service. */
export function databasesEntries({ apply, image }: ManifestOptions): readonly ManifestEntry[] {
  const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  const account: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: here }
  return [
    {
      comment: [
        'The databases operator: two replicas; one leads, the other takes over.',
        '',
        '  kubectl create namespace nest-system',
        '  kubectl -n nest-system create secret generic nest-db-credentials --from-file=password=<file>',
        usedAs(apply),
        '',
        "Set DB_HOST, DB_USER and DB_NAME to the platform's PostgreSQL. The user needs the right to alter its tables at the",
        'first start, which adds columns, an index and a trigger.',
      ],
      object: namespace,
    },
    { object: account },
    {
      comment: [
        'Rows name their namespaces, so the rules hold in all of them. Kubernetes cannot limit a rule to namespaces with a',
        'prefix: the operator does that (NAMESPACE_PREFIX).',
      ],
      object: roleFor(everywhere, databasesRbac.cluster ?? []),
    },
    { object: bindingFor(everywhere, here) },
    { comment: ['What it does at home: stand for election.'], object: roleFor(here, databasesRbac.namespace ?? []) },
    { object: bindingFor(here, here) },
    { object: deployment(image) },
    { comment: ['Metrics.'], object: service() },
  ]
}

const probe = (path: string) => ({ httpGet: { path, port: 'health' } })

function deployment(image = 'tenure:latest'): Deployment {
  return operatorDeployment(here, {
    replicas: 2,
    container: 'controller',
    image,
    command: 'databases',
    env: [
      { name: 'DB_HOST', value: 'postgresql.nest-system.svc.cluster.local' },
      { name: 'DB_PORT', value: '5432' },
      { name: 'DB_USER', value: 'nest' },
      {
        name: 'DB_PASSWORD',
        valueFrom: { secretKeyRef: { name: 'nest-db-credentials', key: 'password' } },
      },
      { name: 'DB_NAME', value: 'nest' },
      { name: 'IN_CLUSTER', value: 'true' },
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'RECONCILE_INTERVAL', value: '30s' },
    ],
    ports: [
      { name: 'health', containerPort: HEALTH_PORT },
      { name: 'metrics', containerPort: METRICS_PORT },
    ],
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 30 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 10 },
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  })
}

function service(): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: here,
    spec: { selector: { app: NAME }, ports: [{ name: 'metrics', port: METRICS_PORT, targetPort: 'metrics' }] },
  }
}
