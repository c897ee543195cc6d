import type { ClusterRole } from '@tenure/kube/kinds'
import type { LeaseControllerSpec, LeasedResource } from '../../api/lease-controller.ts'

type PolicyRule = NonNullable<ClusterRole['rules']>[number]

/**
 * All that the controller of one kind may do anywhere: that kind, and telling about it. Namespaces only if their labels
 * planLeaseController, Jobs and the ConfigMaps with scripts only if cleanup jobs are allowed, secrets never.
 */
export function clusterRules(spec: LeaseControllerSpec, resource: LeasedResource): readonly PolicyRule[] {
  return [
    rule(resource.group, resource.plural, ['get', 'list', 'watch', 'patch', 'delete']),
    rule('events.k8s.io', 'events', ['create', 'patch']),
    ...(spec.optIn && resource.namespaced ? [rule('', 'namespaces', ['list', 'watch'])] : []),
    ...(spec.cleanup ? cleanupRules(spec) : []),
  ]
}

function cleanupRules({ cleanupConfigMaps }: LeaseControllerSpec): readonly PolicyRule[] {
  const scripts = rule('', 'configmaps', ['get'])
  return [
    rule('batch', 'jobs', ['get', 'list', 'watch', 'create', 'patch']),
    cleanupConfigMaps ? { ...scripts, resourceNames: [...cleanupConfigMaps] } : scripts,
  ]
}

/**
 * What it may do where it runs: stand for election, if there is one, and say in a Lease what it keeps. `create` can not
 * be bound to names, because a new object has none yet; of those that are there it may touch only these.
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
