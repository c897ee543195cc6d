import type { KubeObject, ObjectMeta } from './object.ts'

/** How objects of a kind are read: whole, or their metadata only. */
export type ObjectRepresentation = 'full' | 'metadata'

/**
 * A kind of object, as a value: what the client needs to build URLs, and the type of what comes back. The built-in
 * ones are generated (`@tenure/kube/kinds`); `defineKind` makes one for a custom resource.
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

/** An object of which only the metadata was read. */
export interface PartialObjectMetadata extends KubeObject {
  readonly metadata?: ObjectMeta
}

/** The same kind, read as metadata only: lists, watches and caches of it never hold a spec. */
export function metadataOf(kind: Kind): Kind<PartialObjectMetadata> {
  return Object.freeze({ ...kind, representation: 'metadata' as const })
}

/** `deployments.apps/v1`: names a kind and version in messages and as a key. */
export function kindKey(kind: Kind): string {
  return kind.group ? `${kind.plural}.${kind.group}/${kind.version}` : `${kind.plural}/${kind.version}`
}

/** True if both name the same resource, whatever the version or form. */
export function isSameResource(a: Kind, b: Kind): boolean {
  return a.group === b.group && a.plural === b.plural
}
