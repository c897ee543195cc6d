import type { Kind, KubeObject, ManagedFieldsEntry, Stored } from '@tenure/kube'
import { Interner } from './intern.ts'

export interface TransformOptions {
  /** Field managers whose managedFields entries are kept; all others are dropped. */
  readonly keepManagedFieldsOf: readonly string[]
  readonly freeze: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Metadata = Stored<KubeObject>['metadata']

/**
 * What becomes of an object on its way into a cache. Tuned for memory: managedFields are often half of an object, and
 * every parsed object brings its own copy of strings that all of them share.
 */
export class ObjectTransform<T extends KubeObject> {
  readonly #kind: Kind<T>
  readonly #keep: ReadonlySet<string>
  readonly #freeze: boolean
  readonly #interner = new Interner()
  #lastTime = ''

  constructor(kind: Kind<T>, options: TransformOptions) {
    this.#kind = kind
    this.#keep = new Set(options.keepManagedFieldsOf)
    this.#freeze = options.freeze
  }

  /** Of an object that was just parsed and that nobody else holds: it is changed in place. */
  take(object: Stored<T>): Stored<T> {
    // Not of those who keep what they hand out, frozen: in-process transports may.
    if (Object.isFrozen(object)) return this.copy(object)
    const owned: Writable<Stored<KubeObject>> = object
    owned.apiVersion = this.#kind.apiVersion
    owned.kind = this.#kind.kind
    owned.metadata = this.#takeMetadata(object.metadata)
    return this.#done(owned)
  }

  /** Of an object that somebody else holds too: a copy as far as it is changed. */
  copy(object: Stored<KubeObject>): Stored<T> {
    const { apiVersion, kind, form } = this.#kind
    const { labels } = object.metadata
    const metadata = this.#takeMetadata({ ...object.metadata, ...(labels && { labels: { ...labels } }) })
    return this.#done(form === 'metadata' ? { apiVersion, kind, metadata } : { ...object, apiVersion, kind, metadata })
  }

  #done(object: Stored<KubeObject>): Stored<T> {
    return (this.#freeze ? deepFreeze(object) : object) as Stored<T>
  }

  #takeMetadata(given: Metadata): Metadata {
    const metadata: Writable<Metadata> = given.managedFields === undefined ? given : this.#withoutOthersFields(given)
    if (metadata.namespace !== undefined) metadata.namespace = this.#interner.intern(metadata.namespace)
    // Objects made together are often listed together, and were made in the same second.
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
    // Not `delete`, which makes an object a slow one, twice as large.
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
