import type { Kind, KubeObject, ObjectRef, Selection, Stored } from '@tenure/kube'

/** Read-only view of a cache. Objects are shared, not copied, and must not be changed (tests freeze them). */
export interface Cache<T extends KubeObject> {
  get(ref: ObjectRef): Stored<T> | undefined
  /** By `namespace/name`. */
  getByKey(key: string): Stored<T> | undefined
  /** All objects, or those of one namespace, in no particular order. */
  list(namespace?: string): readonly Stored<T>[]
  /** The objects with `value` in the index. Throws if the index does not exist. */
  byIndex(index: string, value: string): readonly Stored<T>[]
  readonly size: number
}

/** The index values of an object. */
export type IndexFunction<T extends KubeObject> = (object: Stored<T>) => readonly string[]

/** Index of every cache: the uids of all owners. */
export const OWNER_UID_INDEX = 'owner-uid'

export type InformerEvent<T extends KubeObject> =
  /** `initial`: the object existed when the watch or this subscription started. */
  | { readonly type: 'added'; readonly object: Stored<T>; readonly initial: boolean }
  | { readonly type: 'modified'; readonly object: Stored<T>; readonly old: Stored<T> }
  /** `object` is its last known state. Delete and create under one name are a `deleted` and an `added`. */
  | { readonly type: 'deleted'; readonly object: Stored<T> }

export type InformerHealth =
  | { readonly state: 'starting' }
  | { readonly state: 'live'; readonly since: number }
  /** `since` is wall time; `error` is the reason. The informer keeps retrying. */
  | { readonly state: 'down'; readonly since: number; readonly error: Error }

export interface InformerSubscription {
  /** Also call the handler for the current objects. Default true. */
  readonly replay?: boolean
}

/** One watched kind: a cache in sync with the server, and its change events. */
export interface Informer<T extends KubeObject> {
  readonly kind: Kind<T>
  readonly selection: Selection
  readonly cache: Cache<T>
  readonly synced: boolean
  readonly health: InformerHealth
  /**
   * The server's resourceVersion up to which the cache is complete; newer states in it are own writes. Undefined before
   * the first list.
   */
  readonly lastSyncResourceVersion: string | undefined
  /** Milliseconds since 1970 of the last list, change or bookmark from the server. Undefined before the first list. */
  readonly lastEventAt: number | undefined
  /** Resolves when the initial state is in the cache; rejects only if `signal` aborts. */
  whenSynced(signal?: AbortSignal): Promise<void>
  /**
   * Calls `handler` for the current objects (as `added`, `initial`) and for each later change, in order and
   * synchronously after the cache changed. Returns a function that unsubscribes. A handler that throws is a bug: the
   * error is logged, and other handlers are still called.
   */
  subscribe(handler: (event: InformerEvent<T>) => void, options?: InformerSubscription): () => void
  /**
   * Calls `handler` whenever `lastSyncResourceVersion` changed, after the corresponding events. Returns a function that
   * unsubscribes.
   */
  onProgress(handler: () => void): () => void
  /** Adds an index, also over existing objects. */
  addIndex(name: string, index: IndexFunction<T>): void
}

export interface InformerRequest {
  /**
   * The process is ready although this cache was never filled: the kind may not be served. An informer that another
   * caller requests without this counts. Default false.
   */
  readonly optional?: boolean
  /**
   * Most objects are made from one pattern: the cache keeps equal parts of them once, for some CPU per object. The first
   * caller decides. Default false.
   */
  readonly alike?: boolean
}

/** Shared informers: one per kind, form and selection. */
export interface Informers {
  informer<T extends KubeObject>(kind: Kind<T>, selection?: Selection, request?: InformerRequest): Informer<T>
  /** Calls `listener` each time the server turns out not to serve a watched kind. Returns a function that ends that. */
  onUnknownKind(listener: (kind: Kind) => void): () => void
}
