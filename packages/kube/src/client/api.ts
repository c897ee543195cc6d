import type { Kind } from '../model/kind.ts'
import type { KubeList, KubeObject, ListMeta, ObjectRef, Stored } from '../model/object.ts'
import type { Patch } from '../model/patch.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface GetOptions extends CallOptions {
  /** `'0'` accepts any state the server has cached; unset reads the latest. */
  readonly resourceVersion?: string
  readonly subresource?: 'status' | 'scale'
}

export interface Selection {
  /** Unset: all namespaces. Ignored for cluster-scoped kinds. */
  readonly namespace?: string | undefined
  /** `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined
  /** `metadata.name=web`. */
  readonly fieldSelector?: string | undefined
}

export interface ListOptions extends Selection, CallOptions {
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Maximum number of items in one response. */
  readonly limit?: number
  /** The `metadata.continue` of the previous page. */
  readonly continue?: string
}

export interface WriteOptions extends CallOptions {
  /** The manager in managedFields. Default: the client's. */
  readonly fieldManager?: string
  /** Validates and admits, but stores nothing. Default false. */
  readonly dryRun?: boolean
  /** How the server handles unknown and duplicate fields. Default: the server's, `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly subresource?: 'status' | 'scale'
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that other managers own. Default false: a conflict is a 409. */
  readonly force?: boolean
}

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

export interface DeleteOptions extends CallOptions {
  /** The server answers 409 unless the stored object is exactly this one. */
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
  /** Default: the kind's own, Background for most. */
  readonly propagation?: Propagation
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
}

export interface WatchOptions extends Selection, CallOptions {
  /** Watches for events after this version. Unset: existing objects come first, as ADDED. */
  readonly resourceVersion?: string
  /** Streams the whole state first, then a bookmark annotated `k8s.io/initial-events-end`. Default false. */
  readonly sendInitialEvents?: boolean
  /** Asks for BOOKMARK events. Default true. */
  readonly bookmarks?: boolean
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds?: number
  /** The watch fails if no byte arrives for this many milliseconds. Default: no limit. */
  readonly idleTimeout?: number
  /** Called when the server has accepted the watch, which may be long before its first event. */
  readonly onOpen?: () => void
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<T> }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

/** The result of a delete: the object is gone, or it remains for now (finalizers, a grace period) in this state. */
export type Deleted<T extends KubeObject> =
  | { readonly gone: true; readonly uid: string | undefined }
  | { readonly gone: false; readonly object: Stored<T> }

/** A live read, with the server's time: a second clock beside that of this machine. */
export interface LiveRead<T extends KubeObject> {
  readonly object: Stored<T>
  /** Milliseconds since 1970, from the `Date` header (whole seconds). Undefined without that header. */
  readonly serverTime: number | undefined
}

/** Called after each successful write, before the write returns. Caches use it to show a writer its own writes. */
export interface WriteObserver {
  written(kind: Kind, object: Stored<KubeObject>): void
  deleted(kind: Kind, ref: ObjectRef, uid: string | undefined): void
  /**
   * A write was refused with a conflict: the writer's state is old. Its error is thrown when the returned promise has
   * settled, so that a retry begins with what the observer has read.
   */
  conflicted?(kind: Kind, ref: ObjectRef, signal: AbortSignal | undefined): Promise<void> | undefined
}

/** A list in batches of items, as they arrive. */
export interface ListStream<T extends KubeObject> extends AsyncIterable<readonly Stored<T>[]> {
  /** The metadata of the list. Undefined until the last item was returned. */
  readonly metadata: ListMeta | undefined
}

export interface StreamListOptions extends ListOptions {
  /** The list fails if no byte arrives for this many milliseconds. Default 60,000. */
  readonly idleTimeout?: number
  /** The managers whose managedFields entries are needed; other entries may be missing from the items. Default: all. */
  readonly managedFieldsOf?: readonly string[] | undefined
}

/** The verbs of a Kubernetes API. `Client` implements it over a Transport. */
export interface KubeApi {
  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options?: GetOptions): Promise<Stored<T>>
  getLive<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options?: CallOptions): Promise<LiveRead<T>>
  /** One page. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<KubeList<T>>
  /** Every page, `limit` (default 500) items at a time, as one consistent snapshot. */
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncIterable<KubeList<T>>
  /**
   * One response, decoded as it arrives, so that memory never holds its whole text or all of its items at once. It is
   * not retried.
   */
  streamList<T extends KubeObject>(kind: Kind<T>, options?: StreamListOptions): ListStream<T>
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  /**
   * Replaces the object. With a `metadata.resourceVersion` that is not the stored one: 409. JavaScript rounds integers
   * beyond 2^53: use a patch for objects that may contain some.
   */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  patch<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<Stored<T>>
  /** Server-side apply. */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options?: ApplyOptions): Promise<Stored<T>>
  delete<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options?: DeleteOptions): Promise<Deleted<T>>
  deleteCollection<T extends KubeObject>(kind: Kind<T>, options: Selection & DeleteOptions): Promise<void>
  /** Batches of events in the server's order. An in-stream ERROR throws an ApiError; if the server closes, the watch ends. */
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncIterable<readonly WatchEvent<T>[]>
  /** Calls `observer` after every successful write and every conflict, until the returned function is called. */
  observeWrites(observer: WriteObserver): () => void
}
