import { type ClusterRole, CustomResourceDefinition, Secret, ValidatingWebhookConfiguration } from '@tenure/kube/kinds'
import { leaseControllerDefinition } from './api/crd.ts'
import { LEASE_CONTROLLER_GROUP } from './api/lease-controller.ts'

type PolicyRule = NonNullable<ClusterRole['rules']>[number]

const MANAGE_VERBS = ['get', 'list', 'watch', 'create', 'patch', 'delete']

export interface LeaseOperatorRulesOptions {
  /** Installs and upgrades the CustomResourceDefinition. Default true. */
  readonly installDefinitions?: boolean
  /** Creates LeaseControllers for common kinds once. Default false. */
  readonly createDefaults?: boolean
  /** Whether dedicated controllers are deployed. Default true. */
  readonly dedicated?: boolean
  /** Resources whose leases the operator manages itself. Default: none. */
  readonly shared?: readonly { readonly group: string; readonly plural: string }[]
}

/**
 * Rules of the operator's ClusterRole. To grant a dedicated controller rights that the operator itself lacks it needs
 * `escalate` and `bind`: anyone who may write LeaseControllers decides which kinds are managed.
 */
export function leaseOperatorRules(options: LeaseOperatorRulesOptions = {}): readonly PolicyRule[] {
  const { installDefinitions = true, createDefaults = false, dedicated = true, shared = [] } = options
  return [
    // Kinds that LeaseControllers name may be defined later.
    rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get', 'list', 'watch']),
    ...definitionRules(installDefinitions, createDefaults),
    rule(LEASE_CONTROLLER_GROUP, ['leasecontrollers'], ['get', 'list', 'watch', ...(createDefaults ? ['create'] : [])]),
    rule(LEASE_CONTROLLER_GROUP, ['leasecontrollers/status'], ['patch']),
    // OwnerReferencesPermissionEnforcement requires this right for setting blockOwnerDeletion.
    rule(LEASE_CONTROLLER_GROUP, ['leasecontrollers/finalizers'], ['update']),
    rule('coordination.k8s.io', ['leases'], [...MANAGE_VERBS, 'update']),
    ...(dedicated ? deploymentRules() : []),
    ...(shared.length > 0 ? sharedRules(shared) : []),
  ]
}

/** An annotation of the definition records which LeaseControllers were created. */
function definitionRules(installDefinitions: boolean, createDefaults: boolean): readonly PolicyRule[] {
  const verbs = [...(installDefinitions ? ['create'] : []), ...(installDefinitions || createDefaults ? ['patch'] : [])]
  return verbs.length === 0
    ? []
    : [named(CustomResourceDefinition, leaseControllerDefinition.metadata?.name ?? '', verbs)]
}

function deploymentRules(): readonly PolicyRule[] {
  const roles = ['clusterroles', 'roles']
  return [
    rule('', ['serviceaccounts', 'services'], MANAGE_VERBS),
    rule('apps', ['deployments'], MANAGE_VERBS),
    rule('rbac.authorization.k8s.io', [...roles, 'clusterrolebindings', 'rolebindings'], MANAGE_VERBS),
    rule('rbac.authorization.k8s.io', roles, ['escalate', 'bind']),
  ]
}

function sharedRules(shared: NonNullable<LeaseOperatorRulesOptions['shared']>): readonly PolicyRule[] {
  return [
    ...shared.map(({ group, plural }) => rule(group, [plural], ['get', 'list', 'watch', 'patch', 'delete'])),
    rule('events.k8s.io', ['events'], ['create', 'patch']),
    rule('', ['namespaces'], ['list', 'watch']),
    rule('batch', ['jobs'], ['get', 'list', 'watch', 'create', 'patch']),
    rule('', ['configmaps', 'serviceaccounts'], ['get']),
  ]
}

function rule(apiGroup: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources: [...resources], verbs: [...verbs] }
}

/** Name of the operator of LeaseControllers, its Service and its webhook configuration. */
export const LEASE_OPERATOR = 'object-lease-operator'
/** Name of the controllers of leases: their field manager, and the reporter of their Events. */
export const KIND_OPERATOR = 'object-lease-controller'
/** Secret in which its replicas share the webhook certificate. */
export const LEASE_WEBHOOK_SECRET = 'object-lease-operator-webhook'

/** Rules for the admission webhook. */
export interface LeaseAdmissionRules {
  readonly cluster: readonly PolicyRule[]
  /** In the operator's own namespace. */
  readonly home: readonly PolicyRule[]
}

/** RBAC cannot restrict `create` by name; all other verbs are restricted to the operator's own objects. */
export const leaseAdmissionRules: LeaseAdmissionRules = {
  cluster: [named(ValidatingWebhookConfiguration, LEASE_OPERATOR, ['get', 'list', 'watch', 'create', 'patch'])],
  home: [
    rule(Secret.group, [Secret.plural], ['create']),
    named(Secret, LEASE_WEBHOOK_SECRET, ['get', 'list', 'watch', 'update']),
  ],
}

function named(kind: { readonly group: string; readonly plural: string }, name: string, verbs: string[]): PolicyRule {
  return { ...rule(kind.group, [kind.plural], verbs), resourceNames: [name] }
}
