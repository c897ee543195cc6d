import type { Kind, KubeObject } from '@tenure/kube'
import {
  ClusterRole,
  ClusterRoleBinding,
  Deployment,
  Lease,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from '@tenure/kube/kinds'
import { apply, type ApplyAction } from '@tenure/runtime'
import type { LeaseFamily } from '../../api/annotations.ts'
import type { CleanupSettings } from '../../api/types.ts'
import { cleanupFlags, familyFlags, leaderName } from '../../config.ts'
import { LEASE_CONTROLLER_GROUP, type LeaseControllerSpec, type LeasedResource } from '../../api/lease-controller.ts'
import { allowedBy } from './allowed-resources.ts'
import { childNames, type ChildNames } from './child-names.ts'
import { clusterRules, namespaceRules } from './child-rbac.ts'
import { nameTaken } from './name-taken.ts'

/** Marks the children of LeaseControllers, so that only those objects are watched. */
export const CHILD_LABEL = `${LEASE_CONTROLLER_GROUP}/lease-controller`
const INSTANCE_LABEL = 'app.kubernetes.io/instance'

/** Ports of a controller's pod. */
const HEALTH_PORT = 8081
const METRICS_PORT = 8080

/** Kinds of the children of a dedicated controller, in the order of creation. */
export const CHILD_KINDS: readonly Kind[] = [
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  Lease,
  Service,
  Deployment,
]

export interface DedicatedSettings {
  /** Namespace of the controllers. */
  readonly namespace: string
  /** Default image. */
  readonly image: string
  /** Annotation families that they read. */
  readonly families: readonly LeaseFamily[]
  /** Limits of cleanup jobs. */
  readonly cleanup: CleanupSettings
}

/** A LeaseController whose kind is resolved. */
export interface ResolvedLeaseController {
  readonly name: string
  readonly spec: LeaseControllerSpec
  readonly resource: LeasedResource
}

/** The children of a dedicated controller: identity, permissions, Services and Deployment. */
export function dedicatedChildren(
  controller: ResolvedLeaseController,
  settings: DedicatedSettings,
): readonly ApplyAction[] {
  const { name, spec, resource } = controller
  const { namespace } = settings
  const names = childNames(name)
  const labels = labelsOf(names)
  const everywhere = { name: names.base, labels }
  const here = { ...everywhere, namespace }
  const subjects = [{ kind: 'ServiceAccount', name: names.base, namespace }]
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: names.base })
  const election = isElected(spec) ? leaderName(resource) : undefined
  // Not the objects of others that happen to have these names.
  const child = <T extends KubeObject>(kind: Kind<T>, object: NoInfer<T>): ApplyAction =>
    apply(kind, object, { adopt: (existing) => nameTaken(name, kind, existing) })
  return [
    child(ServiceAccount, { metadata: here }),
    child(ClusterRole, { metadata: everywhere, rules: clusterRules(spec, resource) }),
    child(ClusterRoleBinding, { metadata: everywhere, roleRef: roleRef('ClusterRole'), subjects }),
    child(Role, { metadata: here, rules: namespaceRules({ election, report: names.report }) }),
    child(RoleBinding, { metadata: here, roleRef: roleRef('Role'), subjects }),
    // Created here for its owner reference; the dedicated controller writes its contents.
    child(Lease, { metadata: { ...here, name: names.report } }),
    child(Service, service({ ...here, name: names.health }, labels, 'health', HEALTH_PORT)),
    child(Service, service({ ...here, name: names.metrics }, labels, 'metrics', METRICS_PORT)),
    child(Deployment, deployment(controller, settings, names)),
  ]
}

function labelsOf({ base }: ChildNames): Readonly<Record<string, string>> {
  return {
    [CHILD_LABEL]: 'true',
    'app.kubernetes.io/name': 'object-lease-controller',
    [INSTANCE_LABEL]: base,
    'app.kubernetes.io/managed-by': 'tenure',
  }
}

function service(
  metadata: NonNullable<KubeObject['metadata']>,
  labels: Readonly<Record<string, string>>,
  name: string,
  port: number,
): Service {
  return {
    metadata,
    spec: {
      type: 'ClusterIP',
      selector: selectorOf(labels),
      ports: [{ name, port, targetPort: name, protocol: 'TCP' }],
    },
  }
}

/** A Deployment's selector is immutable, so it is minimal. */
function selectorOf(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { [INSTANCE_LABEL]: labels[INSTANCE_LABEL] ?? '' }
}

function deployment(
  { spec, resource }: ResolvedLeaseController,
  settings: DedicatedSettings,
  names: ChildNames,
): Deployment {
  const labels = labelsOf(names)
  return {
    metadata: { name: names.base, namespace: settings.namespace, labels },
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: selectorOf(labels) },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: names.base,
          securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'controller',
              image: spec.image ?? settings.image,
              // The operator's own image is on the node already, and may be in no registry.
              imagePullPolicy: 'IfNotPresent',
              args: argumentsOf(spec, resource, settings),
              env: [
                { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                { name: 'LEASE_REPORT', value: `${settings.namespace}/${names.report}` },
              ],
              ports: [
                { name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' },
                { name: 'health', containerPort: HEALTH_PORT, protocol: 'TCP' },
              ],
              livenessProbe: { ...probeOf('/livez'), periodSeconds: 20, failureThreshold: 3 },
              readinessProbe: { ...probeOf('/readyz'), periodSeconds: 10 },
              resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } },
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

const probeOf = (path: string) => ({ httpGet: { path, port: 'health' } })

function isElected({ leaderElection = true }: LeaseControllerSpec): boolean {
  return leaderElection
}

function argumentsOf(
  spec: LeaseControllerSpec,
  resource: LeasedResource,
  { namespace, families, cleanup }: DedicatedSettings,
): readonly string[] {
  const { optIn, dryRun } = spec
  return [
    'leases',
    `--group=${resource.group}`,
    `--version=${resource.version}`,
    `--kind=${resource.kind}`,
    ...(isElected(spec) ? ['--leader-elect', `--leader-elect-namespace=${namespace}`] : []),
    ...(optIn ? [`--opt-in-label-key=${optIn.key}`] : []),
    ...(optIn?.value === undefined ? [] : [`--opt-in-label-value=${optIn.value}`]),
    ...(dryRun ? ['--dry-run'] : []),
    ...familyFlags(families),
    ...cleanupFlags(allowedBy(spec, cleanup)),
    `--metrics-bind-address=:${METRICS_PORT}`,
    `--health-probe-bind-address=:${HEALTH_PORT}`,
  ]
}
