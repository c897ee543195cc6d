import type { Kind } from '@tenure/kube'
import type { ClusterRole } from '@tenure/kube/kinds'

/** A rule of a Role or ClusterRole. */
export type PolicyRule = NonNullable<ClusterRole['rules']>[number]

/** The permissions of an operator. Its manifests grant them; a test proves that they are enough and that none is unused. */
export interface OperatorRbac {
  /** Rules of a ClusterRole: for all namespaces and cluster-scoped kinds. */
  readonly cluster: readonly PolicyRule[]
  /** Rules of a Role in the operator's own namespace. Default: none. */
  readonly namespace?: readonly PolicyRule[]
}

/** Allows verbs on all objects of a kind, or on a subresource of them. */
export function rule({ group, plural }: Kind, verbs: readonly string[], subresource?: string): PolicyRule {
  return { apiGroups: [group], resources: [subresource ? `${plural}/${subresource}` : plural], verbs: [...verbs] }
}

/**
 * Allows verbs on the object of one name. `create` cannot be limited this way: a new object has no name when RBAC
 * decides.
 */
export function ruleForName(kind: Kind, name: string, verbs: readonly string[]): PolicyRule {
  return { ...rule(kind, verbs), resourceNames: [name] }
}
