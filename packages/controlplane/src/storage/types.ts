import type { KubeObject, Stored } from '@tenure/kube'

/** One stored version of an object. Immutable and shared: never change it. */
export interface StoredObject {
  /** `namespace/name`, or `name`. */
  readonly key: string
  /** The revision that wrote it: its `metadata.resourceVersion`. */
  readonly revision: number
  /** Read without parsing the object where possible. */
  readonly apiVersion: string
  /** Parsed on demand and released later: two reads may return two equal objects. */
  readonly object: Stored<KubeObject>
  /** JSON of the object with its resourceVersion, made on demand and kept: lists and watches send these bytes. */
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
  /** The last state of a deleted object, with the revision of the deletion as its resourceVersion. */
  readonly deleted: StoredObject | undefined
}

export interface RangeOptions {
  /** Only keys of this namespace. */
  readonly namespace?: string | undefined
  /** Only keys after this one. */
  readonly after?: string | undefined
  /** The state at this revision. Default: the newest. Throws `RevisionCompacted` if it is compacted. */
  readonly at?: number | undefined
}

/** Thrown for a revision that is no longer in the history. */
export class RevisionCompacted extends Error {
  /** The oldest revision in the history. */
  readonly oldest: number

  constructor(oldest: number) {
    super(`Revision compacted: the oldest revision in the history is ${oldest}.`)
    this.oldest = oldest
  }
}

/** The outcome of a write, decided on the newest state: the next object (without resourceVersion), a removal, or a no-op. */
export type WriteDecision<R> =
  | { readonly put: KubeObject; readonly result?: R }
  | { readonly remove: true; readonly result?: R }
  /** A no-op: nothing is written and no revision is used. */
  | { readonly keep: true; readonly result?: R }

export interface Written<R> {
  /** The state after the write; for a removal the last state, with the revision of the removal. */
  readonly stored: StoredObject
  readonly result: R | undefined
}

/**
 * Objects by resource and key, under one revision. A write is decided synchronously on the newest state, including
 * writes that are not durable; it is acknowledged and becomes visible to reads and watches, in order, once it is durable.
 */
export interface Storage {
  /** The newest visible revision. */
  readonly revision: number
  /** Reads the visible state. */
  get(resource: string, key: string): StoredObject | undefined
  /** In key order. */
  range(resource: string, options?: RangeOptions): Iterable<StoredObject>
  /** Number of objects, of one namespace if given. */
  count(resource: string, namespace?: string): number
  /**
   * Decides and writes. `decide` receives the newest state, or undefined if there is no object. It is synchronous and may
   * throw: then nothing is written and the promise rejects.
   */
  write<R = undefined>(
    resource: string,
    key: string,
    decide: (current: StoredObject | undefined) => WriteDecision<R>,
  ): Promise<Written<R>>
  /**
   * Calls `listener` synchronously for each durable change of `resource` after revision `from`, history first, in order.
   * Throws RevisionCompacted if the history is too short. Returns a function that ends the watch.
   */
  watch(resource: string, from: number, listener: (change: Change) => void): () => void
  /** Resources that hold at least one object. */
  resources(): readonly string[]
  /** Drops history before `revision`. */
  compact(revision: number): void
  close(): Promise<void>
}
