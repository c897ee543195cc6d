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
  /** At most this many items in one answer. */
  readonly limit?: number
  /** From the previous page's `metadata.continue`. */
  readonly continue?: string
}

export interface WriteOptions extends CallOptions {
  /** Who writes, in managedFields. Default: the client's. */
  readonly fieldManager?: string
  /** Validate and admit, store nothing. Default false. */
  readonly dryRun?: boolean
  /** What the server does with unknown and duplicate fields. Default: the server's, `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly subresource?: 'status' | 'scale'
}

export interface ApplyOptions extends WriteOptions {
  /** Take over fields that others own. Default false: a conflict is a 409. */
  readonly force?: boolean
}

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

export interface DeleteOptions extends CallOptions {
  /** Refuse (409) unless the stored object is exactly this one. */
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
  /** Default: the kind's own, Background for most. */
  readonly propagation?: Propagation
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
}

export interface WatchOptions extends Selection, CallOptions {
  /** Events after this one. Unset: whatever is there first, as ADDED, then changes. */
  readonly resourceVersion?: string
  /** Stream the whole state first, then a bookmark annotated `k8s.io/initial-events-end`. Default false. */
  readonly sendInitialEvents?: boolean
  /** Ask for BOOKMARK events. Default true. */
  readonly bookmarks?: boolean
  /** The server ends the watch after this time. */
  readonly timeoutSeconds?: number
  /** Give up when nothing at all arrives for this long, in milliseconds. Default: never. */
  readonly idleTimeout?: number
  /** Called when the server has accepted the watch, which may be long before its first event. */
  readonly onOpen?: () => void
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<T> }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

/** What a delete did: the object is gone, or it is on its way (finalizers, a grace period) and this is its state. */
export type Deleted<T extends KubeObject> =
  | { readonly gone: true; readonly uid: string | undefined }
  | { readonly gone: false; readonly object: Stored<T> }

/** A live read, with the time the server put on its answer: a clock that is not ours. */
export interface LiveRead<T extends KubeObject> {
  readonly object: Stored<T>
  /** Milliseconds since 1970, in whole seconds as the `Date` header has them; undefined without that header. */
  readonly serverTime: number | undefined
}

/** Told of every write that succeeded, before its caller is. Caches use it to show a writer its own writes. */
export interface WriteObserver {
  written(kind: Kind, object: Stored<KubeObject>): void
  deleted(kind: Kind, ref: ObjectRef, uid: string | undefined): void
}

/** A list as it comes: batches of its items. */
export interface ListStream<T extends KubeObject> extends AsyncIterable<readonly Stored<T>[]> {
  /** The list's own. Undefined until the last item was handed out. */
  readonly metadata: ListMeta | undefined
}

export interface StreamListOptions extends ListOptions {
  /** Give up when nothing at all arrives for this long, in milliseconds. Default 60,000. */
  readonly idleTimeout?: number
  /** Whose managedFields entries are wanted: those of others may be left out of the items. Default everybody's. */
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
   * One answer, read as it comes: neither its text nor all of its items are ever in memory at once, but for those that
   * the reader keeps. Tried once.
   */
  streamList<T extends KubeObject>(kind: Kind<T>, options?: StreamListOptions): ListStream<T>
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  /**
   * Replaces the object. With a `metadata.resourceVersion` that is not the stored one: 409. Whole numbers beyond 2^53
   * are rounded, as everywhere in JavaScript: of an object that may hold some, change what you mean with a patch.
   */
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  patch<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<Stored<T>>
  /** Server-side apply. */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options?: ApplyOptions): Promise<Stored<T>>
  delete<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options?: DeleteOptions): Promise<Deleted<T>>
  deleteCollection<T extends KubeObject>(kind: Kind<T>, options: Selection & DeleteOptions): Promise<void>
  /** Batches of events in the order the server sent them. An in-stream ERROR throws an ApiError; a server that closes ends it. */
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncIterable<readonly WatchEvent<T>[]>
  /** Calls `observer` after every successful write; returns what ends that. */
  observeWrites(observer: WriteObserver): () => void
}
