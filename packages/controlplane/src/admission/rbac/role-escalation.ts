import type { KubeObject } from '@tenure/kube'
import { asArray, isDeepEqual, isJsonObject, type JsonObject, valueAtPath } from '@tenure/kube/model'
import { notFound } from '../../errors.ts'
import { admissionDenied } from '../../registry/admission-denied.ts'
import type { Admission, AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition, User } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import { missingPermissions, quotedList } from './missing-permissions.ts'
import type { StoredPolicyRule } from '../../rbac/policy-rule.ts'

const EVERYTHING: readonly StoredPolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The part of the authorizer that the escalation check needs. */
export interface RoleAuthorizer {
  authorize(attributes: {
    readonly user: User
    readonly verb: string
    readonly path: string
    readonly resource: {
      readonly group: string
      readonly plural: string
      readonly subresource: string
      readonly namespace: string | undefined
      readonly name: string | undefined
    }
  }): { readonly allowed: boolean }
  /** All rules that apply to a user in a namespace; '' for the whole cluster. */
  rulesFor(user: User, namespace: string): readonly StoredPolicyRule[]
}

const GROUP = 'rbac.authorization.k8s.io'
const ROLES = new Set([`roles.${GROUP}`, `clusterroles.${GROUP}`])
const BINDINGS = new Set([`rolebindings.${GROUP}`, `clusterrolebindings.${GROUP}`])

/**
 * Prevents privilege escalation: a user can write a role or bind it only if the user already holds all its permissions,
 * or may `escalate` or `bind` that role.
 */
export class RoleEscalation implements Admission {
  readonly #storage: Storage
  readonly #authorizer: RoleAuthorizer

  constructor(storage: Storage, authorizer: RoleAuthorizer) {
    this.#storage = storage
    this.#authorizer = authorizer
  }

  concerns(operation: AdmissionAttributes['operation'], { bucket }: ResourceDefinition, subresource: string): boolean {
    const isWritten = operation === 'CREATE' || operation === 'UPDATE'
    return isWritten && subresource === '' && (ROLES.has(bucket) || BINDINGS.has(bucket))
  }

  mutate({ object }: AdmissionAttributes): Promise<KubeObject | undefined> {
    return Promise.resolve(object)
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { user, definition, namespace = '', object, oldObject } = attributes
    if (user.groups.includes('system:masters') || !object) return
    if (oldObject && isGarbageCollectionChange(object, oldObject)) return
    const isRole = ROLES.has(definition.bucket)
    const isAllowed = isRole ? this.#mayEscalate(attributes) : this.#mayBind(attributes)
    if (isAllowed) return
    const { rules } = (isRole ? object : this.#boundRole(attributes)) as {
      readonly rules?: readonly StoredPolicyRule[] | null
    }
    const held = this.#authorizer.rulesFor(user, namespace)
    const missing = missingPermissions(held, rules ?? [])
    if (missing.length > 0) {
      throw admissionDenied(
        attributes,
        `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${missing.join('\n')}`,
      )
    }
    // An aggregation rule can gather any permission, and keeps others from taking one away.
    const aggregates = isRole && (hasAggregationRule(object) || hasAggregationRule(oldObject))
    if (aggregates && missingPermissions(held, EVERYTHING).length > 0) {
      throw admissionDenied(attributes, 'must have cluster-admin privileges to use the aggregationRule')
    }
  }

  #mayEscalate({ user, definition, namespace, operation, name }: AdmissionAttributes): boolean {
    const { group, plural } = definition
    const asked = operation === 'CREATE' ? undefined : name
    const resource = { group, plural, subresource: '', namespace, name: asked }
    return this.#authorizer.authorize({ user, verb: 'escalate', path: '', resource }).allowed
  }

  #mayBind({ user, namespace, object }: AdmissionAttributes): boolean {
    const { kind, name } = roleRefOf(object)
    const plural = kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    const resource = { group: GROUP, plural, subresource: '', namespace, name }
    return this.#authorizer.authorize({ user, verb: 'bind', path: '', resource }).allowed
  }

  #boundRole({ definition, namespace, object }: AdmissionAttributes): KubeObject {
    const { kind, name } = roleRefOf(object)
    const plural = kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    const key = plural === 'roles' ? `${namespace}/${name}` : name
    const found = this.#storage.get(`${plural}.${GROUP}`, key)
    // kube-apiserver combines the resource that is written with the name of the missing role.
    if (!found) throw notFound(definition, name)
    return found.object
  }
}

function hasAggregationRule(role: KubeObject | undefined): boolean {
  return asArray(valueAtPath(role, 'aggregationRule', 'clusterRoleSelectors')).length > 0
}

function roleRefOf(object: KubeObject | undefined): { readonly kind: string; readonly name: string } {
  const { roleRef } = (object ?? {}) as { readonly roleRef?: JsonObject }
  const { kind, name } = isJsonObject(roleRef) ? roleRef : {}
  return { kind: typeof kind === 'string' ? kind : '', name: typeof name === 'string' ? name : '' }
}

/** Changes of owners and finalizers grant nothing, and garbage collection needs them. */
function isGarbageCollectionChange(object: KubeObject, old: KubeObject): boolean {
  return isDeepEqual(withoutOwnersAndFinalizers(object), withoutOwnersAndFinalizers(old))
}

function withoutOwnersAndFinalizers({ metadata = {}, ...fields }: KubeObject): unknown {
  const { ownerReferences: _, finalizers: __, managedFields: ___, resourceVersion: ____, ...kept } = metadata
  return { ...fields, metadata: kept }
}
