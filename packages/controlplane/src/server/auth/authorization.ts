import type { KubeObject } from '@tenure/kube'
import { StatusError } from '../../errors.ts'
import type { User } from '../../registry/types.ts'
import { type Permission, ruleCovers, type StoredPolicyRule } from '../../rbac/policy-rule.ts'
import type { Storage } from '../../storage/types.ts'

/** A user, a verb and a resource or path. */
export interface AccessAttributes {
  readonly user: User
  readonly verb: string
  /** Undefined for a path that is not a resource. */
  readonly resource?: {
    readonly group: string
    readonly plural: string
    readonly subresource: string
    readonly namespace: string | undefined
    readonly name: string | undefined
  }
  readonly path: string
}

export interface AccessDecision {
  readonly allowed: boolean
  readonly reason: string
}

interface Role extends KubeObject {
  readonly rules?: readonly StoredPolicyRule[]
}

interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

interface Binding extends KubeObject {
  readonly subjects?: readonly Subject[]
  readonly roleRef?: { readonly kind: string; readonly name: string }
}

const RBAC = 'rbac.authorization.k8s.io'

/** 403 with kube-apiserver's message. */
export function accessDenied(
  user: User,
  verb: string,
  { group, plural, subresource, namespace, name }: NonNullable<AccessAttributes['resource']>,
): StatusError {
  const named = `${group ? `${plural}.${group}` : plural}${name === undefined ? '' : ` "${name}"`}`
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  return new StatusError(
    403,
    'Forbidden',
    `${named} is forbidden: User "${user.name}" cannot ${verb} resource "${plural}${subresource ? `/${subresource}` : ''}" in API group "${group}" ${where}`,
    { ...(name !== undefined && { name }), ...(group && { group }), kind: plural },
  )
}

/** Decides by RBAC: the stored Roles, ClusterRoles and bindings. `system:masters` may do everything. */
export class Authorizer {
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
  }

  authorize(attributes: AccessAttributes): AccessDecision {
    const { user, resource } = attributes
    if (user.groups.includes('system:masters')) return { allowed: true, reason: '' }
    const permission = permissionOf(attributes)
    for (const { key, object } of this.#storage.range(`clusterrolebindings.${RBAC}`)) {
      const binding = object as Binding
      const subject = binding.subjects?.find((candidate) => isSubject(candidate, user, undefined))
      if (!subject || !this.#permits(binding, undefined, permission)) continue
      return granted('ClusterRoleBinding', key, binding, subject)
    }
    if (resource?.namespace !== undefined) {
      const { namespace } = resource
      for (const { key, object } of this.#storage.range(`rolebindings.${RBAC}`, { namespace })) {
        const binding = object as Binding
        const subject = binding.subjects?.find((candidate) => isSubject(candidate, user, namespace))
        if (!subject || !this.#permits(binding, namespace, permission)) continue
        return granted('RoleBinding', key, binding, subject)
      }
    }
    return { allowed: false, reason: '' }
  }

  /** The rules that apply to a user in a namespace, as `kubectl auth can-i --list` shows them. */
  rulesFor(user: User, namespace: string): readonly StoredPolicyRule[] {
    if (user.groups.includes('system:masters')) {
      return [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ]
    }
    const cluster = [...this.#storage.range(`clusterrolebindings.${RBAC}`)].map(({ object }) => ({
      object,
      within: undefined,
    }))
    const local = [...this.#storage.range(`rolebindings.${RBAC}`, { namespace })].map(({ object }) => ({
      object,
      within: namespace,
    }))
    return [...cluster, ...local].flatMap(({ object, within }) => {
      const binding = object as Binding
      const applies = binding.subjects?.some((subject) => isSubject(subject, user, within)) ?? false
      return applies ? (this.#role(binding, within)?.rules ?? []) : []
    })
  }

  #role({ roleRef }: Binding, namespace: string | undefined): Role | undefined {
    if (!roleRef) return undefined
    const stored =
      roleRef.kind === 'ClusterRole'
        ? this.#storage.get(`clusterroles.${RBAC}`, roleRef.name)
        : this.#storage.get(`roles.${RBAC}`, `${namespace}/${roleRef.name}`)
    return stored?.object
  }

  #permits(binding: Binding, namespace: string | undefined, permission: Permission): boolean {
    return this.#role(binding, namespace)?.rules?.some((rule) => ruleCovers(rule, permission)) ?? false
  }
}

function granted(kind: string, key: string, { roleRef }: Binding, subject: Subject): AccessDecision {
  const name = kind === 'RoleBinding' ? key.split('/').toReversed().join('/') : key
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? ''}` : subject.name
  return {
    allowed: true,
    reason: `RBAC: allowed by ${kind} "${name}" of ${roleRef?.kind} "${roleRef?.name}" to ${subject.kind} "${who}"`,
  }
}

function isSubject({ kind, name, namespace }: Subject, user: User, within: string | undefined): boolean {
  switch (kind) {
    case 'User':
      return user.name === name
    case 'Group':
      return user.groups.includes(name)
    case 'ServiceAccount':
      return user.name === `system:serviceaccount:${namespace ?? within ?? ''}:${name}`
    default:
      return false
  }
}

function permissionOf({ verb, resource, path }: AccessAttributes): Permission {
  if (!resource) return { verb, path }
  const { group, plural, subresource, name } = resource
  return { verb, resource: { apiGroup: group, resource: subresource ? `${plural}/${subresource}` : plural, name } }
}
