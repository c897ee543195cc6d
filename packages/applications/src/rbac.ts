import {
  CustomResourceDefinition,
  Event,
  Lease,
  MutatingWebhookConfiguration,
  Namespace,
  Pod,
  Secret,
  SubjectAccessReview,
  TokenReview,
  ValidatingWebhookConfiguration,
} from '@tenure/kube/kinds'
import { type PolicyRule, rule, ruleForName } from '@tenure/runtime'
import { Application, LEADER_LEASE, OPERATOR } from './api/index.ts'
import { CHILD_KINDS } from './controllers/application/children/index.ts'
import { applicationsConfig } from './config.ts'
import { applicationDefinition } from './api/crd.ts'

/** Settings that change which permissions the operator needs. */
export interface ApplicationsRbacOptions {
  /** Watches one namespace only: the workload rules become a Role there. Default false: all namespaces. */
  readonly oneNamespace?: boolean | undefined
  /** Installs and upgrades the CustomResourceDefinition. Default true. */
  readonly installDefinitions?: boolean | undefined
  /** Creates the namespace of a posted Application. Default false. */
  readonly createNamespaces?: boolean | undefined
  /** Takes part in leader election. Default true. */
  readonly enableLeaderElection?: boolean | undefined
  /** Checks bearer tokens of callers of the HTTP API. Default true, as on anything but a loopback address. */
  readonly tokens?: boolean | undefined
  /** Serves admission webhooks and registers them. Default true. */
  readonly webhooks?: boolean | undefined
  /** Secret with the certificate that the replicas share; undefined: each has its own. Default `elide-operator-webhook`. */
  readonly webhookSecret?: string | undefined
}

/**
 * Rules of the ClusterRole. Objects with a fixed name are bound by `resourceNames`, which works for an apply that
 * creates, other than for a create.
 */
export function clusterRules(options: ApplicationsRbacOptions = {}): readonly PolicyRule[] {
  const { oneNamespace = false, installDefinitions = true, createNamespaces = false } = options
  const { tokens = true, webhooks = true } = options
  const definition = applicationDefinition.metadata?.name ?? ''
  return [
    ...(oneNamespace ? [] : workloadRules()),
    ruleForName(CustomResourceDefinition, definition, ['get', ...(installDefinitions ? ['create', 'patch'] : [])]),
    ...(webhooks
      ? [ValidatingWebhookConfiguration, MutatingWebhookConfiguration].map((kind) =>
          ruleForName(kind, OPERATOR, ['get', 'list', 'watch', 'create', 'patch']),
        )
      : []),
    ...(tokens ? [TokenReview, SubjectAccessReview].map((kind) => rule(kind, ['create'])) : []),
    ...(createNamespaces ? [rule(Namespace, ['create'])] : []),
  ]
}

/** Rules for the namespaces of Applications: part of the ClusterRole, or a Role in the one namespace that is watched. */
export function workloadRules(): readonly PolicyRule[] {
  return [
    // The HTTP API creates, updates and deletes; the controller patches the finalizer.
    rule(Application, ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']),
    rule(Application, ['patch'], 'status'),
    // OwnerReferencesPermissionEnforcement demands this for owner references that block deletion.
    rule(Application, ['update'], 'finalizers'),
    ...CHILD_KINDS.map((kind) => rule(kind, ['get', 'list', 'watch', 'create', 'patch', 'delete'])),
    rule(Pod, ['list', 'watch']),
    rule(Event, ['list', 'watch', 'create', 'patch']),
  ]
}

/** Rules of the Role in the operator's own namespace. A create cannot be bound to a name; all other verbs are. */
export function namespaceRules(options: ApplicationsRbacOptions = {}): readonly PolicyRule[] {
  const { enableLeaderElection = true, webhooks = true } = options
  const secret = 'webhookSecret' in options ? options.webhookSecret : applicationsConfig.webhookSecret.default
  return [
    ...(enableLeaderElection ? [rule(Lease, ['create']), ruleForName(Lease, LEADER_LEASE, ['get', 'update'])] : []),
    ...(webhooks && secret !== undefined
      ? [rule(Secret, ['create']), ruleForName(Secret, secret, ['get', 'list', 'watch', 'update'])]
      : []),
  ]
}
