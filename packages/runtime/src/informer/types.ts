import type { Kind, KubeObject, ObjectRef, Selection, Stored } from '@tenure/kube'

/** What a cache holds, read-only and shared: objects are never copied and never to be changed (tests freeze them). */
export interface Cache<T extends KubeObject> {
  get(ref: ObjectRef): Stored<T> | undefined
  /** By `namespace/name`. */
  getByKey(key: string): Stored<T> | undefined
  /** All, or those of one namespace, in no particular order. */
  list(namespace?: string): readonly Stored<T>[]
  /** Those that index `index` filed under `value`. Throws if there is no such index. */
  byIndex(index: string, value: string): readonly Stored<T>[]
  readonly size: number
}

/** The values under which an index files an object. */
export type IndexFunction<T extends KubeObject> = (object: Stored<T>) => readonly string[]

/** Built into every cache: the uids of all owners. */
export const OWNER_UID_INDEX = 'owner-uid'

export type InformerEvent<T extends KubeObject> =
  /** `initial`: it was there when the watch, or this subscription, began. */
  | { readonly type: 'added'; readonly object: Stored<T>; readonly initial: boolean }
  | { readonly type: 'modified'; readonly object: Stored<T>; readonly old: Stored<T> }
  /** `object` is its last known state. Delete + create under one name is a `deleted` and an `added`. */
  | { readonly type: 'deleted'; readonly object: Stored<T> }

export type InformerHealth =
  | { readonly state: 'starting' }
  | { readonly state: 'live'; readonly since: number }
  /** `since` is wall time; `error` is why. It keeps trying. */
  | { readonly state: 'down'; readonly since: number; readonly error: Error }

/** One watched kind: a cache, kept equal to the server, and the events by which it changes. */
export interface Informer<T extends KubeObject> {
  readonly kind: Kind<T>
  readonly selection: Selection
  readonly cache: Cache<T>
  readonly synced: boolean
  readonly health: InformerHealth
  /** How far the server's history is in the cache: what is from after it is our own. Undefined before the first list. */
  readonly lastSyncResourceVersion: string | undefined
  /** Resolves when the first full state is in the cache; rejects only if `signal` aborts. */
  whenSynced(signal?: AbortSignal): Promise<void>
  /**
   * Calls `handler` for what is there now (as `added`, `initial`) and for each change after it, in order,
   * synchronously after the cache changed. Returns what ends that. A handler that throws is a bug: it is logged, and the others go on.
   */
  subscribe(handler: (event: InformerEvent<T>) => void): () => void
  /** Calls `handler` whenever `lastSyncResourceVersion` has moved, after the events that moved it. Returns what ends that. */
  onProgress(handler: () => void): () => void
  /** Files objects under more values; existing objects too. */
  addIndex(name: string, index: IndexFunction<T>): void
}

/** Informers, shared: one per kind, form and selection, however many ask. */
export interface Informers {
  informer<T extends KubeObject>(kind: Kind<T>, selection?: Selection): Informer<T>
}
