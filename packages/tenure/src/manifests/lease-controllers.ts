import type { Deployment, Namespace, Service, ServiceAccount } from '@tenure/kube/kinds'
import { defaultLeaseSettings, LEASE_OPERATOR, leaseAdmissionRules, leaseOperatorRules } from '@tenure/leases'

import { operatorDeployment } from './deployment.ts'
import { type ManifestEntry, type ManifestOptions, usedAs } from './entry.ts'
import { bindingFor, roleFor } from './rbac.ts'

const NAMESPACE = 'object-lease-system'
const NAME = LEASE_OPERATOR
const CLEANUP_IMAGE = defaultLeaseSettings.cleanup.image

const labels = { app: NAME, 'app.kubernetes.io/name': NAME }
const here = { name: NAME, namespace: NAMESPACE, labels }
const everywhere = { name: NAME, labels }
const ADMISSION = 'object-lease-admission'
const WEBHOOK_PORT = 9443

/** The LeaseController operator for a cluster, with its RBAC and Deployment. */
export function leaseControllersEntries({ apply, applyDefinitions, image }: ManifestOptions): readonly ManifestEntry[] {
  return [
    {
      comment: [
        'The LeaseController operator: for each LeaseController it deploys a controller with access to that kind only.',
        '',
        usedAs(apply),
        '  kubectl -n object-lease-system rollout status deployment/object-lease-operator',
        '',
        'The operator installs and upgrades its CustomResourceDefinition. To install it yourself, run',
        `"${applyDefinitions}" and set INSTALL_DEFINITIONS to "false".`,
      ],
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } } satisfies Namespace,
    },
    { object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: here } satisfies ServiceAccount },
    {
      comment: [
        'The operator grants each controller permissions that it does not have itself, so it needs escalate and bind:',
        'a user who may write LeaseControllers decides which objects may be deleted. Grant that permission with care.',
      ],
      object: roleFor(everywhere, leaseOperatorRules()),
    },
    { object: bindingFor(everywhere, here) },
    { object: deployment(image) },
  ]
}

/** The objects that lease admission needs in addition. */
export function leaseAdmissionEntries({ apply }: Pick<ManifestOptions, 'apply'>): readonly ManifestEntry[] {
  const { cluster, home } = leaseAdmissionRules
  const metadata = { ...everywhere, name: ADMISSION }
  const local = { ...metadata, namespace: NAMESPACE }
  return [
    {
      comment: [
        'Optional: rejects invalid lease annotations when they are written, and says why:',
        '',
        usedAs(apply),
        `  kubectl -n ${NAMESPACE} set env deployment/${NAME} LEASE_ADMISSION=true`,
        '',
        'The API server calls the webhook only for objects with such annotations, and ignores a webhook that fails.',
      ],
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: here,
        spec: { selector: { app: NAME }, ports: [{ name: 'webhooks', port: 443, targetPort: WEBHOOK_PORT }] },
      } satisfies Service,
    },
    { object: roleFor(metadata, cluster) },
    { object: bindingFor(metadata, here) },
    {
      comment: ['The replicas share the webhook certificate in a Secret.'],
      object: roleFor(local, home),
    },
    { object: bindingFor(local, here) },
  ]
}

const probe = (path: string) => ({ httpGet: { path, port: 'probes' } })

function deployment(image = 'tenure:latest'): Deployment {
  return operatorDeployment(here, {
    replicas: 2,
    image,
    command: 'lease-controllers',
    env: [
      { name: 'LEASE_CONTROLLER_IMAGE', value: image },
      { name: 'LEASE_CLEANUP_IMAGE', value: CLEANUP_IMAGE },
    ],
    ports: [
      { name: 'metrics', containerPort: 8080 },
      { name: 'probes', containerPort: 8081 },
    ],
    livenessProbe: { ...probe('/livez'), initialDelaySeconds: 10, periodSeconds: 10 },
    readinessProbe: { ...probe('/readyz'), initialDelaySeconds: 5, periodSeconds: 5 },
    resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
  })
}
