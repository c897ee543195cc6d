import type { KubeObject } from '@tenure/kube'
import { notFound } from '../../errors.ts'
import { isEqual, isObject } from '../../registry/json.ts'
import type { JsonObject } from '../../registry/json.ts'
import { refused } from '../../registry/refused.ts'
import type { Admission, AdmissionAttributes } from '../../registry/request.ts'
import type { ResourceDefinition, User } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'
import { missingRights, quotedList } from './policy-rules.ts'
import type { PolicyRule } from './policy-rules.ts'

/** Who may do what: the part of the authorizer that is needed here. */
export interface Rights {
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
  /** All that a user may do in a namespace; '' for the whole cluster. */
  rulesFor(user: User, namespace: string): readonly PolicyRule[]
}

const GROUP = 'rbac.authorization.k8s.io'
const ROLES = new Set([`roles.${GROUP}`, `clusterroles.${GROUP}`])
const BINDINGS = new Set([`rolebindings.${GROUP}`, `clusterrolebindings.${GROUP}`])

/**
 * Nobody gives away rights that he does not have: the rules of a role, or of the role that is bound, must be covered by
 * the writer's own, unless he may `escalate` roles or `bind` that one.
 */
export class RoleEscalation implements Admission {
  readonly #storage: Storage
  readonly #rights: Rights

  constructor(storage: Storage, rights: Rights) {
    this.#storage = storage
    this.#rights = rights
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
    if (oldObject && isOnlyForTheCollector(object, oldObject)) return
    const isRole = ROLES.has(definition.bucket)
    const isAllowed = isRole ? this.#mayEscalate(attributes) : this.#mayBind(attributes)
    if (isAllowed) return
    const { rules } = (isRole ? object : this.#boundRole(attributes)) as {
      readonly rules?: readonly PolicyRule[] | null
    }
    const missing = missingRights(this.#rights.rulesFor(user, namespace), rules ?? [])
    if (missing.length === 0) return
    throw refused(
      attributes,
      `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${missing.join('\n')}`,
    )
  }

  #mayEscalate({ user, definition, namespace, operation, name }: AdmissionAttributes): boolean {
    const { group, plural } = definition
    const asked = operation === 'CREATE' ? undefined : name
    const resource = { group, plural, subresource: '', namespace, name: asked }
    return this.#rights.authorize({ user, verb: 'escalate', path: '', resource }).allowed
  }

  #mayBind({ user, namespace, object }: AdmissionAttributes): boolean {
    const { kind, name } = roleRefOf(object)
    const plural = kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    const resource = { group: GROUP, plural, subresource: '', namespace, name }
    return this.#rights.authorize({ user, verb: 'bind', path: '', resource }).allowed
  }

  #boundRole({ definition, namespace, object }: AdmissionAttributes): KubeObject {
    const { kind, name } = roleRefOf(object)
    const plural = kind === 'ClusterRole' ? 'clusterroles' : 'roles'
    const key = plural === 'roles' ? `${namespace}/${name}` : name
    const found = this.#storage.get(`${plural}.${GROUP}`, key)
    // The real server speaks of the resource that is written, and of the name that it did not find.
    if (!found) throw notFound(definition, name)
    return found.object
  }
}

function roleRefOf(object: KubeObject | undefined): { readonly kind: string; readonly name: string } {
  const { roleRef } = (object ?? {}) as { readonly roleRef?: JsonObject }
  const { kind, name } = isObject(roleRef) ? roleRef : {}
  return { kind: typeof kind === 'string' ? kind : '', name: typeof name === 'string' ? name : '' }
}

/** Owners and finalizers change while an object is on its way out, by whoever takes it there. */
function isOnlyForTheCollector(object: KubeObject, old: KubeObject): boolean {
  return isEqual(withoutHold(object), withoutHold(old))
}

function withoutHold({ metadata = {}, ...fields }: KubeObject): unknown {
  const { ownerReferences: _, finalizers: __, managedFields: ___, resourceVersion: ____, ...kept } = metadata
  return { ...fields, metadata: kept }
}
