import { ConfigMap, Event, Lease, Pod, Secret, Service } from '@tenure/kube/kinds'
import type { Kind } from '@tenure/kube'
import { type PolicyRule, rule, ruleForName } from '@tenure/runtime'
import { LEADER_LEASE } from './api/names.ts'

/** Settings and templates that change which permissions the operator needs. */
export interface ClaimsRbacOptions {
  /** The kinds that the templates render. Default: those of the default template. */
  readonly kinds?: readonly Kind[]
  /**
   * Callers send values, or a template renders Secrets: the operator keeps them in Secrets. Default false, because the
   * rule lets the operator read all Secrets of its namespace.
   */
  readonly secrets?: boolean
}

const CHILD_VERBS = ['get', 'list', 'watch', 'create']

/** The kinds of the default template. */
export const DEFAULT_TEMPLATE_KINDS: readonly Kind[] = [Pod, Service]

/**
 * The rules of the Role in the namespace of the claims; nothing is needed elsewhere. The garbage collector deletes the
 * resources of claims, so the operator itself cannot.
 */
export function claimRules({
  kinds = DEFAULT_TEMPLATE_KINDS,
  secrets = false,
}: ClaimsRbacOptions = {}): readonly PolicyRule[] {
  return [
    rule(ConfigMap, ['get', 'list', 'watch', 'create', 'patch', 'delete']),
    ...kinds.filter((kind) => kind !== ConfigMap && kind !== Secret).map((kind) => rule(kind, CHILD_VERBS)),
    ...(secrets || kinds.includes(Secret) ? [rule(Secret, [...CHILD_VERBS, 'patch'])] : []),
    rule(Event, ['create', 'patch']),
    // OwnerReferencesPermissionEnforcement demands this for owner references that block deletion.
    rule(ConfigMap, ['update'], 'finalizers'),
    rule(Lease, ['create']),
    ruleForName(Lease, LEADER_LEASE, ['get', 'update']),
  ]
}
