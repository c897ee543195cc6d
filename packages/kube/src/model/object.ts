/** A key that identifies an object of a known kind. Cluster-scoped objects have no namespace. */
export interface ObjectRef {
  readonly name: string
  readonly namespace?: string | undefined
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
  readonly subresource?: string
}

/** metav1.ObjectMeta. Times are RFC 3339 strings, as on the wire. */
export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
  readonly selfLink?: string
}

/**
 * Any object of the API server. Types are deeply read-only: objects come from shared caches, and a change makes a new
 * object. Fields that a type does not name are kept.
 */
export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
}

/** An object as the API server returns it, with its identity. */
export type Stored<T extends KubeObject> = T & {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta & {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
  }
}

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface KubeList<T extends KubeObject> {
  readonly items: readonly Stored<T>[]
  readonly metadata: ListMeta
}

/** metav1.Condition. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly observedGeneration?: number
}

/** `namespace/name`, or `name` for a cluster-scoped object: the key of caches and queues. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name
}

export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The reference to `object`. Throws if it has no name, as before a create with generateName. */
export function refTo(object: KubeObject): ObjectRef {
  const { name, namespace } = object.metadata ?? {}
  if (!name) throw new TypeError(`${object.kind ?? 'Object'} has no metadata.name`)
  return namespace ? { name, namespace } : { name }
}

/**
 * Compares two resourceVersions: negative if `a` is older. Kubernetes 1.35 and later document them as comparable decimal
 * integers; they are compared as text because they may exceed 2^53.
 */
export function compareResourceVersions(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
