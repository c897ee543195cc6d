import type { ClusterRole } from '@tenure/kube/kinds'
import { LEASE_CONTROLLER_GROUP } from './api/lease-controller.ts'

type PolicyRule = NonNullable<ClusterRole['rules']>[number]

const KEEP = ['get', 'list', 'watch', 'create', 'patch', 'delete']

export interface LeaseOperatorRulesOptions {
  /** Whether dedicated controllers are deployed. Default true. */
  readonly dedicated?: boolean
  /** Resources whose leases the operator keeps itself, by their group. Default: none. */
  readonly shared?: readonly { readonly group: string; readonly plural: string }[]
}

/**
 * All that the operator of LeaseControllers may have to do, for the ClusterRole of who runs it. To give a dedicated
 * controller rights that it has not itself it needs `escalate` and `bind`: whoever may write LeaseControllers decides.
 */
export function leaseOperatorRules(rights: LeaseOperatorRulesOptions = {}): readonly PolicyRule[] {
  const { dedicated = true, shared = [] } = rights
  return [
    rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['get', 'list', 'watch', 'create', 'patch']),
    rule(LEASE_CONTROLLER_GROUP, ['leasecontrollers'], ['get', 'list', 'watch', 'create']),
    rule(LEASE_CONTROLLER_GROUP, ['leasecontrollers/status'], ['patch']),
    // Where the API server enforces it, an owner can be named only by who might hold its deletion up.
    rule(LEASE_CONTROLLER_GROUP, ['leasecontrollers/finalizers'], ['update']),
    rule('events.k8s.io', ['events'], ['create', 'patch']),
    rule('coordination.k8s.io', ['leases'], [...KEEP, 'update']),
    ...(dedicated ? deploymentRules() : []),
    ...(shared.length > 0 ? sharedRules(shared) : []),
  ]
}

function deploymentRules(): readonly PolicyRule[] {
  const roles = ['clusterroles', 'roles']
  return [
    rule('', ['serviceaccounts', 'services'], KEEP),
    rule('apps', ['deployments'], KEEP),
    rule('rbac.authorization.k8s.io', [...roles, 'clusterrolebindings', 'rolebindings'], KEEP),
    rule('rbac.authorization.k8s.io', roles, ['escalate', 'bind']),
  ]
}

function sharedRules(shared: NonNullable<LeaseOperatorRulesOptions['shared']>): readonly PolicyRule[] {
  return [
    ...shared.map(({ group, plural }) => rule(group, [plural], ['get', 'list', 'watch', 'patch', 'delete'])),
    rule('', ['namespaces'], ['list', 'watch']),
    rule('batch', ['jobs'], ['get', 'list', 'watch', 'create', 'patch']),
    rule('', ['configmaps'], ['get']),
  ]
}

function rule(apiGroup: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources: [...resources], verbs: [...verbs] }
}
