import type { Kind } from '@tenure/kube'
import {
  type ClusterRole,
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
import { Application, LEADER_LEASE, OPERATOR } from './api/index.ts'
import { CHILD_KINDS } from './controllers/application/children/index.ts'
import { applicationsTable } from './config.ts'
import { applicationDefinition } from './api/crd.ts'

export type PolicyRule = NonNullable<ClusterRole['rules']>[number]

/** What the operator is told to do, as far as it changes what it must be allowed to do. */
export interface ApplicationsRights {
  /** Looks after one namespace only: the workload rules are then a Role there. Default false: after all. */
  readonly oneNamespace?: boolean | undefined
  /** Installs and upgrades the CustomResourceDefinition. Default true. */
  readonly installDefinitions?: boolean | undefined
  /** Makes namespaces that Applications are posted into. Default false. */
  readonly createNamespaces?: boolean | undefined
  /** Stands for election. Default true. */
  readonly enableLeaderElection?: boolean | undefined
  /** Asks callers of the HTTP API for tokens. Default true, as it does on anything but a loopback address. */
  readonly tokens?: boolean | undefined
  /** Serves admission webhooks and registers them. Default true. */
  readonly webhooks?: boolean | undefined
  /** Where the replicas share the webhooks' certificate; undefined: each has its own. Default `elide-operator-webhook`. */
  readonly webhookSecret?: string | undefined
}

/**
 * All that the operator does in any namespace, or outside of namespaces: the rules of its ClusterRole. Names bind what
 * has one name only; an apply that creates is judged by its name too, other than a create.
 */
export function clusterRules(rights: ApplicationsRights = {}): readonly PolicyRule[] {
  const { oneNamespace = false, installDefinitions = true, createNamespaces = false } = rights
  const { tokens = true, webhooks = true } = rights
  const definition = applicationDefinition.metadata?.name ?? ''
  return [
    ...(oneNamespace ? [] : workloadRules()),
    named(CustomResourceDefinition, definition, ['get', ...(installDefinitions ? ['create', 'patch'] : [])]),
    ...(webhooks
      ? [ValidatingWebhookConfiguration, MutatingWebhookConfiguration].map((kind) =>
          named(kind, OPERATOR, ['get', 'list', 'watch', 'create', 'patch']),
        )
      : []),
    ...(tokens ? [TokenReview, SubjectAccessReview].map((kind) => rule(kind, ['create'])) : []),
    ...(createNamespaces ? [rule(Namespace, ['create'])] : []),
  ]
}

/** What it does where Applications are: part of the ClusterRole, or a Role in the one namespace that it looks after. */
export function workloadRules(): readonly PolicyRule[] {
  return [
    // Made, replaced and deleted for callers of the HTTP API; patched for the finalizer.
    rule(Application, ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']),
    rule(Application, ['patch'], 'status'),
    // Where the API server enforces it, an owner can be named only by who might hold its deletion up.
    rule(Application, ['update'], 'finalizers'),
    ...CHILD_KINDS.map((kind) => rule(kind, ['get', 'list', 'watch', 'create', 'patch', 'delete'])),
    rule(Pod, ['list', 'watch']),
    rule(Event, ['list', 'watch', 'create', 'patch']),
  ]
}

/**
 * What it does where it runs: the rules of a Role there. A create can not be bound to names, because a new object has
 * none yet; of those that are there it may touch only these.
 */
export function homeRules(rights: ApplicationsRights = {}): readonly PolicyRule[] {
  const { enableLeaderElection = true, webhooks = true } = rights
  const secret = 'webhookSecret' in rights ? rights.webhookSecret : applicationsTable.webhookSecret.default
  return [
    ...(enableLeaderElection ? [rule(Lease, ['create']), named(Lease, LEADER_LEASE, ['get', 'update'])] : []),
    ...(webhooks && secret !== undefined
      ? [rule(Secret, ['create']), named(Secret, secret, ['get', 'list', 'watch', 'update'])]
      : []),
  ]
}

function named(kind: Kind, name: string, verbs: readonly string[]): PolicyRule {
  return { ...rule(kind, verbs), resourceNames: [name] }
}

function rule({ group, plural }: Kind, verbs: readonly string[], subresource?: string): PolicyRule {
  return { apiGroups: [group], resources: [subresource ? `${plural}/${subresource}` : plural], verbs: [...verbs] }
}
