import type { KubeObject, Stored } from '@tenure/kube'

/** One stored version of an object. Immutable and shared: never change it. */
export interface StoredObject {
  /** `namespace/name`, or `name`. */
  readonly key: string
  /** The revision that wrote it: its `metadata.resourceVersion`. */
  readonly revision: number
  /** Of the object, without parsing it if that can be avoided. */
  readonly apiVersion: string
  /** Parsed when asked for, and let go of in time: two reads may give two equal objects. */
  readonly object: Stored<KubeObject>
  /** The object as JSON, its resourceVersion in it, made when first asked for and kept: lists and watches send these bytes. */
  readonly json: string
}

/** One change, as watches see it. `previous` is undefined for a creation, `current` for a deletion. */
export interface Change {
  readonly revision: number
  /** `deployments.apps`: the bucket. */
  readonly resource: string
  readonly key: string
  readonly previous: StoredObject | undefined
  readonly current: StoredObject | undefined
  /** A deletion's last state, with the revision of the deletion as its resourceVersion. */
  readonly deleted: StoredObject | undefined
}

export interface RangeOptions {
  /** Only keys of this namespace. */
  readonly namespace?: string | undefined
  /** Only keys after this one. */
  readonly after?: string | undefined
  /** The state at this revision. Default: now. Throws `RevisionCompacted` if it is forgotten. */
  readonly at?: number | undefined
}

/** Thrown for a revision that history no longer holds. */
export class RevisionCompacted extends Error {
  /** The oldest revision that is still known. */
  readonly oldest: number

  constructor(oldest: number) {
    super(`revision compacted, the oldest known is ${oldest}`)
    this.oldest = oldest
  }
}

/** What a write decides, seeing the newest state: the next object (without resourceVersion), its deletion, or nothing. */
export type Decision<R> =
  | { readonly put: KubeObject; readonly result?: R }
  | { readonly remove: true; readonly result?: R }
  /** Nothing is written, and no revision is used: a no-op update. */
  | { readonly keep: true; readonly result?: R }

export interface Written<R> {
  /** What is stored now; for a removal its last state, with the revision of the removal. */
  readonly stored: StoredObject
  readonly result: R | undefined
}

/**
 * Objects by resource and key, with one revision over all. A write is decided synchronously on the newest state (also
 * of writes that are not durable yet), acknowledged when it is durable, and visible to reads and watches then, in order.
 */
export interface Storage {
  /** The newest visible revision. */
  readonly revision: number
  /** The visible state. */
  get(resource: string, key: string): StoredObject | undefined
  /** In order of keys. */
  range(resource: string, options?: RangeOptions): Iterable<StoredObject>
  /** How many objects, of one namespace if given. */
  count(resource: string, namespace?: string): number
  /**
   * Decides and writes. `decide` sees the newest state, may throw (nothing happens, the promise rejects) and must not
   * wait. `undefined` current means that there is none.
   */
  write<R = undefined>(
    resource: string,
    key: string,
    decide: (current: StoredObject | undefined) => Decision<R>,
  ): Promise<Written<R>>
  /**
   * Calls `listener` for each change of `resource` after revision `from` (history first, then live), in order,
   * synchronously, once it is durable. Throws RevisionCompacted if history does not reach back. Returns what ends it.
   */
  watch(resource: string, from: number, listener: (change: Change) => void): () => void
  /** Resources that hold at least one object. */
  resources(): readonly string[]
  /** Forgets history before `revision`. */
  compact(revision: number): void
  close(): Promise<void>
}
