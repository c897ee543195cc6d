import type { Kind, ObjectRef } from '@tenure/kube'

/** The object whose lease is changed. */
export interface LeaseTarget {
  readonly kind: Kind
  readonly ref: ObjectRef
  /** `deployment.apps/web`, for messages. */
  readonly label: string
}

export function leaseTarget(kind: Kind, name: string, namespace: string | undefined): LeaseTarget {
  const label = `${kind.kind.toLowerCase()}${kind.group && `.${kind.group}`}/${name}`
  return { kind, ref: kind.namespaced && namespace !== undefined ? { name, namespace } : { name }, label }
}

/** As kubectl accepts it: `deployments.apps`. */
export function resourceName({ group, plural }: Pick<Kind, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`
}
