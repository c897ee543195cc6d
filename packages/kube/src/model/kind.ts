import type { KubeObject, ObjectMeta } from './object.ts'

/** How objects of a kind are read: in full, or only their metadata. */
export type ObjectRepresentation = 'full' | 'metadata'

/**
 * A kind of object as a value: the client builds URLs from it, and it carries the type of the objects. Built-in kinds
 * are generated (`@tenure/kube/kinds`); `defineKind` makes one for a custom resource.
 */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  /** `group/version`, or `version` for the core group. */
  readonly apiVersion: string
  readonly kind: string
  /** The resource in URLs: `deployments`. */
  readonly plural: string
  readonly namespaced: boolean
  /** `metadata` makes every read of this kind a PartialObjectMetadata. */
  readonly representation: ObjectRepresentation
  /** Never set: carries the type. */
  readonly type?: T
}

export interface KindDefinition {
  /** `apps/v1`, or `v1` for the core group. */
  readonly apiVersion: string
  readonly kind: string
  /** Default: the kind in lower case with an `s`. */
  readonly plural?: string
  /** Default true. */
  readonly namespaced?: boolean
}

/**
 * Describes a custom resource:
 * `const Website = defineKind<Website>({ apiVersion: 'example.dev/v1', kind: 'Website' })`
 */
export function defineKind<T extends KubeObject = KubeObject>(definition: KindDefinition): Kind<T> {
  const { apiVersion, kind } = definition
  const slash = apiVersion.indexOf('/')
  return Object.freeze({
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    apiVersion,
    kind,
    plural: definition.plural ?? `${kind.toLowerCase()}s`,
    namespaced: definition.namespaced ?? true,
    representation: 'full',
  } as const)
}

/** An object that was read without spec and status. */
export interface PartialObjectMetadata extends KubeObject {
  readonly metadata?: ObjectMeta
}

/** The same kind, read as metadata only: its lists, watches and caches contain no spec. */
export function metadataOf(kind: Kind): Kind<PartialObjectMetadata> {
  return Object.freeze({ ...kind, representation: 'metadata' as const })
}

/** `deployments.apps/v1`: names a kind and version in messages and as a key. */
export function kindKey(kind: Kind): string {
  return kind.group ? `${kind.plural}.${kind.group}/${kind.version}` : `${kind.plural}/${kind.version}`
}

/** True if both are the same resource, in any version and representation. */
export function isSameResource(a: Kind, b: Kind): boolean {
  return a.group === b.group && a.plural === b.plural
}

/** Names a kind without its name in URLs. */
export interface GroupVersionKind {
  /** Empty: the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
}
