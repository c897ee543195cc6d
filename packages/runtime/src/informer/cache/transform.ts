import type { Kind, KubeObject, ManagedFieldsEntry, Stored } from '@tenure/kube'
import { Interner } from './intern.ts'
import { withSharedParts } from './shared-parts.ts'

export interface TransformOptions {
  /** Field managers whose managedFields entries are kept; all others are dropped. */
  readonly keepManagedFieldsOf: readonly string[]
  readonly freeze: boolean
  /** Keep parts that equal those of the object before only once. */
  readonly areAlike?: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Metadata = Stored<KubeObject>['metadata']

/**
 * Transforms objects on their way into a cache. Tuned for memory: managedFields are often half of an object, and every
 * parsed object has its own copy of common strings.
 */
export class ObjectTransform<T extends KubeObject> {
  readonly #kind: Kind<T>
  readonly #keep: ReadonlySet<string>
  readonly #freeze: boolean
  readonly #areAlike: boolean
  readonly #interner = new Interner()
  #lastTime = ''
  /** The last object, whose parts others share. */
  #last: Stored<KubeObject> | undefined

  constructor(kind: Kind<T>, options: TransformOptions) {
    this.#kind = kind
    this.#keep = new Set(options.keepManagedFieldsOf)
    this.#freeze = options.freeze
    this.#areAlike = options.areAlike ?? false
  }

  /** Transforms an object in place. The caller must be its only holder. */
  inPlace(object: Stored<T>): Stored<T> {
    // In-process transports may return shared, frozen objects.
    if (Object.isFrozen(object)) return this.copy(object)
    const owned: Writable<Stored<KubeObject>> = object
    owned.apiVersion = this.#kind.apiVersion
    owned.kind = this.#kind.kind
    owned.metadata = this.#transformMetadata(object.metadata)
    return this.#done(owned)
  }

  /** Transforms a copy of an object that has other holders, copying only the changed parts. */
  copy(object: Stored<KubeObject>): Stored<T> {
    const { apiVersion, kind, representation } = this.#kind
    const { labels } = object.metadata
    const metadata = this.#transformMetadata({ ...object.metadata, ...(labels && { labels: { ...labels } }) })
    return this.#done(
      representation === 'metadata' ? { apiVersion, kind, metadata } : { ...object, apiVersion, kind, metadata },
    )
  }

  #done(object: Stored<KubeObject>): Stored<T> {
    const kept = this.#areAlike ? this.#shared(object) : object
    return (this.#freeze ? deepFreeze(kept) : kept) as Stored<T>
  }

  #shared(object: Stored<KubeObject>): Stored<KubeObject> {
    const shared = withSharedParts(object, this.#last)
    this.#last = shared
    return shared
  }

  #transformMetadata(given: Metadata): Metadata {
    const metadata: Writable<Metadata> = given.managedFields === undefined ? given : this.#withoutOthersFields(given)
    if (metadata.namespace !== undefined) metadata.namespace = this.#interner.intern(metadata.namespace)
    // Objects created together are often listed together and have the same timestamp.
    if (metadata.creationTimestamp === this.#lastTime) metadata.creationTimestamp = this.#lastTime
    else this.#lastTime = metadata.creationTimestamp
    if (metadata.labels) metadata.labels = this.#internValues(metadata.labels)
    return metadata
  }

  #withoutOthersFields(metadata: Writable<Metadata>): Metadata {
    const kept = this.#keep.size === 0 ? undefined : metadata.managedFields?.filter(this.#isKept)
    if (kept?.length) {
      metadata.managedFields = kept
      return metadata
    }
    // `delete` would turn the object into a slow one of twice the size.
    const { managedFields: _, ...rest } = metadata
    return rest
  }

  readonly #isKept = (entry: ManagedFieldsEntry): boolean => this.#keep.has(entry.manager ?? '')

  #internValues(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const own = labels as Record<string, string>
    for (const key in own) {
      const value = own[key]
      if (value !== undefined) own[key] = this.#interner.intern(value)
    }
    return own
  }
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (!Object.isFrozen(value)) Object.freeze(value)
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null && !Object.isFrozen(child)) deepFreeze(child)
  }
  return value
}
