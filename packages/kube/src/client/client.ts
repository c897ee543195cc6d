import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  Deleted,
  GetOptions,
  KubeApi,
  ListOptions,
  ListStream,
  LiveRead,
  Selection,
  StreamListOptions,
  WatchEvent,
  WatchOptions,
  WriteObserver,
  WriteOptions,
} from './api.ts'
import {
  deleteBody,
  deletedFrom,
  nameOf,
  notAnObject,
  objectIn,
  requireFullRepresentation,
  withKind,
} from './request-body.ts'
import { isStillThere } from './deletion.ts'
import { isConflict, isNotFound } from '../errors/errors.ts'
import { acceptList, acceptOne, acceptStreamedList, fitItem, JSON_TYPE } from '../model/representation.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeList, KubeObject, ListMeta, ObjectRef, Stored } from '../model/object.ts'
import type { Patch } from '../model/patch.ts'
import { StreamedList } from './list-stream.ts'
import { Requester } from './requester.ts'
import type { ApiResponse, ApiRequest, RequesterOptions } from './requester.ts'
import { collectionPath, objectPath, requireNamespace, withQuery } from './resource-path.ts'
import type { QueryValue } from './resource-path.ts'
import { serverTimeOf } from '../errors/status-error.ts'
import { WatchStream } from './watch-stream.ts'

export interface ClientOptions extends RequesterOptions {
  /** The manager in managedFields, unless a call names another. Default `tenure`. */
  readonly fieldManager?: string | undefined
  /** The namespace of objects that name none. Lists and watches do not use it. Default none: such objects are an error. */
  readonly defaultNamespace?: string | undefined
}

/** Items per page. */
const DEFAULT_PAGE_SIZE = 500
const LIST_IDLE_TIMEOUT_MS = 60_000

/** The verbs of a Kubernetes API over a Transport. */
export class Client implements KubeApi {
  /** For paths other than resources, such as discovery. */
  readonly requester: Requester
  readonly fieldManager: string
  readonly defaultNamespace: string | undefined
  readonly #observers = new Set<WriteObserver>()

  constructor(options: ClientOptions) {
    this.requester = new Requester(options)
    this.fieldManager = options.fieldManager ?? 'tenure'
    this.defaultNamespace = options.defaultNamespace
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: GetOptions = {}): Promise<Stored<T>> {
    const answer = await this.#get(kind, ref, options)
    return objectIn(kind, answer, options.subresource)
  }

  async getLive<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: CallOptions = {}): Promise<LiveRead<T>> {
    const answer = await this.#get(kind, ref, options)
    return { object: objectIn(kind, answer), serverTime: serverTimeOf(answer.headers) }
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { value } = await this.requester.json(listRequest(kind, options))
    const list = value as { readonly items?: readonly KubeObject[] | null; readonly metadata?: ListMeta } | undefined
    // Some servers send `items: null` for an empty list. A response without `items` is not a list.
    const items = list?.items === null ? [] : list?.items
    if (!list?.metadata || !Array.isArray(items)) throw notAnObject(kind)
    return { items: items.map((item: KubeObject) => fitItem(kind, item) as Stored<T>), metadata: list.metadata }
  }

  async *pages<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<KubeList<T>, void> {
    const limit = options.limit ?? DEFAULT_PAGE_SIZE
    let page = await this.list(kind, { ...options, limit })
    yield page
    // A continue token contains a resourceVersion; the server rejects a second one.
    const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options
    while (page.metadata.continue) {
      page = await this.list(kind, { ...rest, limit, continue: page.metadata.continue })
      yield page
    }
  }

  streamList<T extends KubeObject>(kind: Kind<T>, options: StreamListOptions = {}): ListStream<T> {
    return new StreamedList<T>({
      kind,
      clock: this.requester.clock,
      signal: options.signal,
      idleTimeout: options.idleTimeout ?? LIST_IDLE_TIMEOUT_MS,
      managedFieldsOf: options.managedFieldsOf,
      open: (signal) => {
        const headers = { accept: acceptStreamedList(kind) }
        return this.requester.stream({ ...listRequest(kind, options), headers, signal, stream: true })
      },
    })
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    requireFullRepresentation(kind, 'create')
    const namespace = this.#namespaceOf(kind, object.metadata?.namespace, object.metadata?.name)
    const { subresource } = options
    const path =
      subresource === undefined
        ? collectionPath(kind, namespace)
        : objectPath(kind, { name: nameOf(kind, object), namespace }, subresource)
    const answer = await this.requester.json({
      verb: 'create',
      kind,
      idempotent: false,
      method: 'POST',
      path: withQuery(path, this.#writeQuery(options)),
      headers: { accept: acceptOne(kind), 'content-type': JSON_TYPE },
      body: JSON.stringify(withKind(kind, object, options)),
      signal: options.signal,
    })
    return this.#written(kind, answer, options)
  }

  async update<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    requireFullRepresentation(kind, 'update')
    const ref = { name: nameOf(kind, object), namespace: object.metadata?.namespace }
    const answer = await this.#change(kind, ref, options, {
      verb: 'update',
      kind,
      // A retry after a lost response would conflict with the resourceVersion of the first attempt.
      idempotent: false,
      method: 'PUT',
      path: this.#writePath(kind, ref, options),
      headers: { accept: acceptOne(kind), 'content-type': JSON_TYPE },
      body: JSON.stringify(withKind(kind, object, options)),
      signal: options.signal,
    })
    return this.#written(kind, answer, options)
  }

  async patch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    const answer = await this.#change(kind, ref, options, {
      verb: 'patch',
      kind,
      // A retry after a lost response could undo another client's write between the two.
      idempotent: false,
      method: 'PATCH',
      path: this.#writePath(kind, ref, options),
      headers: { accept: acceptOne(kind), 'content-type': patch.contentType },
      body: JSON.stringify(patch.body),
      signal: options.signal,
    })
    return this.#written(kind, answer, options)
  }

  async apply<T extends KubeObject>(kind: Kind<T>, object: T, options: ApplyOptions = {}): Promise<Stored<T>> {
    const ref = { name: nameOf(kind, object), namespace: object.metadata?.namespace }
    // The server rejects managedFields in an apply. A resourceVersion or uid is a precondition of the caller and stays.
    const { managedFields: _, ...metadata } = object.metadata ?? {}
    const answer = await this.#change(kind, ref, options, {
      verb: 'apply',
      kind,
      idempotent: metadata.resourceVersion === undefined,
      method: 'PATCH',
      path: this.#writePath(kind, ref, options, { force: options.force ? true : undefined }),
      // JSON is valid YAML, and every server with server-side apply accepts this media type.
      headers: { accept: acceptOne(kind), 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify({ ...withKind(kind, object, options), metadata }),
      signal: options.signal,
    })
    return this.#written(kind, answer, options)
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: DeleteOptions = {}): Promise<Deleted<T>> {
    const target = { name: ref.name, namespace: this.#namespaceOf(kind, ref.namespace, ref.name) }
    const uid = options.preconditions?.uid
    const { value } = await this.#change(kind, target, options, {
      verb: 'delete',
      kind,
      // Without a uid, a retry could delete an object that was created after the first attempt.
      idempotent: uid !== undefined,
      carriedOut: isNotFound,
      method: 'DELETE',
      path: objectPath(kind, target),
      headers: { accept: acceptOne(kind), 'content-type': JSON_TYPE },
      body: JSON.stringify(deleteBody(options)),
      signal: options.signal,
    })
    const deleted = deletedFrom(kind, value, uid)
    if (!options.dryRun) {
      if (deleted.gone) this.#notify((observer) => observer.deleted(kind, target, deleted.uid))
      else this.#notify((observer) => observer.written(kind, deleted.object))
    }
    return deleted
  }

  /** Observers are not called: the response does not say which objects are gone. */
  async deleteCollection<T extends KubeObject>(kind: Kind<T>, options: Selection & DeleteOptions): Promise<void> {
    await this.requester.json({
      verb: 'deletecollection',
      kind,
      idempotent: false,
      method: 'DELETE',
      path: withQuery(collectionPath(kind, requireNamespace(kind, options.namespace)), selectionQuery(options)),
      // Metadata only: by default the response contains every deleted object in full.
      headers: {
        accept: acceptList({ ...kind, representation: 'metadata' }),
        'content-type': JSON_TYPE,
      },
      body: JSON.stringify(deleteBody(options)),
      signal: options.signal,
    })
  }

  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions = {}): AsyncIterable<readonly WatchEvent<T>[]> {
    const sendInitialEvents = options.sendInitialEvents ?? false
    const path = withQuery(collectionPath(kind, options.namespace), {
      watch: true,
      ...selectionQuery(options),
      resourceVersion: options.resourceVersion,
      // The server requires resourceVersionMatch with sendInitialEvents.
      sendInitialEvents: sendInitialEvents ? true : undefined,
      resourceVersionMatch: sendInitialEvents ? 'NotOlderThan' : undefined,
      allowWatchBookmarks: (options.bookmarks ?? true) ? true : undefined,
      timeoutSeconds: options.timeoutSeconds,
    })
    return new WatchStream<T>({
      kind,
      clock: this.requester.clock,
      signal: options.signal,
      idleTimeout: options.idleTimeout,
      onOpen: options.onOpen,
      open: (signal) =>
        this.requester.stream({
          verb: 'watch',
          kind,
          idempotent: true,
          method: 'GET',
          path,
          headers: { accept: acceptOne(kind) },
          signal,
          stream: true,
        }),
    })
  }

  observeWrites(observer: WriteObserver): () => void {
    // A wrapper object: an observer that is added twice is called twice, and each removal removes one.
    const entry: WriteObserver = {
      written: (kind, object) => observer.written(kind, object),
      deleted: (kind, ref, uid) => observer.deleted(kind, ref, uid),
      conflicted: (kind, ref, signal) => observer.conflicted?.(kind, ref, signal),
    }
    this.#observers.add(entry)
    return () => void this.#observers.delete(entry)
  }

  /** Sends a change of an existing object. */
  async #change(
    kind: Kind,
    ref: ObjectRef,
    { dryRun, signal }: Pick<WriteOptions, 'dryRun' | 'signal'>,
    request: ApiRequest,
  ): Promise<ApiResponse> {
    try {
      return await this.requester.json(request)
    } catch (error) {
      if (isConflict(error) && !dryRun) {
        const target = { name: ref.name, namespace: this.#namespaceOf(kind, ref.namespace, ref.name) }
        for (const observer of this.#observers) await observer.conflicted?.(kind, target, signal)
      }
      throw error
    }
  }

  async #get(kind: Kind, ref: ObjectRef, options: GetOptions): Promise<ApiResponse> {
    const target = { name: ref.name, namespace: this.#namespaceOf(kind, ref.namespace, ref.name) }
    return this.requester.json({
      verb: 'get',
      kind,
      idempotent: true,
      method: 'GET',
      path: withQuery(objectPath(kind, target, options.subresource), { resourceVersion: options.resourceVersion }),
      headers: { accept: options.subresource === 'scale' ? JSON_TYPE : acceptOne(kind) },
      signal: options.signal,
    })
  }

  #namespaceOf(kind: Kind, namespace: string | undefined, name?: string): string | undefined {
    return requireNamespace(kind, namespace ?? this.defaultNamespace, name)
  }

  #writePath(kind: Kind, ref: ObjectRef, options: WriteOptions, more: Record<string, QueryValue> = {}): string {
    const target = { name: ref.name, namespace: this.#namespaceOf(kind, ref.namespace, ref.name) }
    return withQuery(objectPath(kind, target, options.subresource), { ...this.#writeQuery(options), ...more })
  }

  #writeQuery(options: WriteOptions): Record<string, QueryValue> {
    return {
      fieldManager: options.fieldManager ?? this.fieldManager,
      fieldValidation: options.fieldValidation,
      dryRun: options.dryRun ? 'All' : undefined,
    }
  }

  #written<T extends KubeObject>(kind: Kind<T>, answer: ApiResponse, options: WriteOptions): Stored<T> {
    const object = objectIn(kind, answer, options.subresource)
    // A dry run stores nothing, a Scale is not the scaled object, and a review (without uid) is never stored.
    const isStored = !options.dryRun && options.subresource !== 'scale' && Boolean(object.metadata.uid)
    if (isStored && this.#observers.size > 0) {
      if (isStillThere(kind, object)) this.#notify((observer) => observer.written(kind, object))
      else {
        const { name, namespace, uid } = object.metadata
        this.#notify((observer) => observer.deleted(kind, { name, namespace }, uid))
      }
    }
    return object
  }

  #notify(call: (observer: WriteObserver) => void): void {
    for (const observer of this.#observers) call(observer)
  }
}

function listRequest(kind: Kind, options: ListOptions): ApiRequest {
  return {
    verb: 'list',
    kind,
    idempotent: true,
    method: 'GET',
    path: withQuery(collectionPath(kind, options.namespace), {
      ...selectionQuery(options),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      limit: options.limit,
      continue: options.continue,
    }),
    headers: { accept: acceptList(kind) },
    signal: options.signal,
  }
}

function selectionQuery(selection: Selection): Record<string, QueryValue> {
  // An empty selector selects everything, like no selector.
  return {
    labelSelector: selection.labelSelector || undefined,
    fieldSelector: selection.fieldSelector || undefined,
  }
}
