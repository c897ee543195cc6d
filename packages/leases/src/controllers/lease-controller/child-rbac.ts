import type { ClusterRole } from '@tenure/kube/kinds'
import type { LeaseControllerSpec, LeasedResource } from '../../api/lease-controller.ts'
import { hasCleanup } from './allowed-resources.ts'

type PolicyRule = NonNullable<ClusterRole['rules']>[number]

/**
 * Cluster-wide rules of one kind's controller: the kind and Events. Namespaces only with an opt-in label, Jobs and the
 * ConfigMaps with scripts and the annotations of ServiceAccounts only if cleanup jobs are allowed, Secrets never.
 */
export function clusterRules(spec: LeaseControllerSpec, resource: LeasedResource): readonly PolicyRule[] {
  return [
    rule(resource.group, resource.plural, ['get', 'list', 'watch', 'patch', 'delete']),
    rule('events.k8s.io', 'events', ['create', 'patch']),
    ...(spec.optIn && resource.namespaced ? [rule('', 'namespaces', ['list', 'watch'])] : []),
    ...(hasCleanup(spec) ? cleanupRules(spec) : []),
  ]
}

function cleanupRules({ cleanupConfigMaps }: LeaseControllerSpec): readonly PolicyRule[] {
  const scripts = rule('', 'configmaps', ['get'])
  return [
    rule('batch', 'jobs', ['get', 'list', 'watch', 'create', 'patch']),
    rule('', 'serviceaccounts', ['get']),
    cleanupConfigMaps ? { ...scripts, resourceNames: [...cleanupConfigMaps] } : scripts,
  ]
}

/**
 * Rules in the controller's own namespace: leader election, if enabled, and the Lease to which it reports. RBAC cannot
 * restrict `create` by name; all other verbs are restricted to these Leases.
 */
export function namespaceRules(leases: {
  readonly election: string | undefined
  readonly report: string
}): readonly PolicyRule[] {
  const { election, report } = leases
  const on = (name: string, verbs: readonly string[]): PolicyRule => ({ ...lease(verbs), resourceNames: [name] })
  return [
    ...(election === undefined ? [] : [lease(['create']), on(election, ['get', 'update'])]),
    on(report, ['patch']),
  ]
}

function lease(verbs: readonly string[]): PolicyRule {
  return rule('coordination.k8s.io', 'leases', verbs)
}

function rule(apiGroup: string, resource: string, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources: [resource], verbs: [...verbs] }
}
