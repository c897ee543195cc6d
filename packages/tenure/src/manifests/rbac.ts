import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@tenure/kube/kinds'

export const RBAC = 'rbac.authorization.k8s.io'

interface Metadata {
  readonly name: string
  /** Undefined: cluster-wide. */
  readonly namespace?: string
  readonly labels: Readonly<Record<string, string>>
}

export function roleFor(metadata: Metadata, rules: NonNullable<ClusterRole['rules']>): Role | ClusterRole {
  return { apiVersion: `${RBAC}/v1`, kind: metadata.namespace ? 'Role' : 'ClusterRole', metadata, rules }
}

/** Binds the role of the same name to a ServiceAccount. */
export function bindingFor(
  metadata: Metadata,
  account: { readonly name: string; readonly namespace: string },
): RoleBinding | ClusterRoleBinding {
  const kind = metadata.namespace ? 'Role' : 'ClusterRole'
  return {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: RBAC, kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }],
  }
}
