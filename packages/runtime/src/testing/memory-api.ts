import {
  abortReason,
  type Clock,
  ConnectionError,
  keyOf,
  type Kind,
  type KubeObject,
  type ObjectRef,
  type Random,
  sleep,
  type Stored,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@tenure/kube'
import { seededRandom } from '@tenure/kube/testing'
import type { JsonObject } from '@tenure/kube/model'
import { MemoryLists } from './memory-lists.ts'
import { bodyOf, MemoryObjects, metadataOf } from './memory-objects.ts'
import type { MemoryChange } from './memory-store.ts'
import { type MemoryWatchOptions, MemoryWatches } from './memory-watches.ts'
import { type Interception, type Interceptor, readRequest, type RecordedRequest } from './recorded-request.ts'
import { objectResponse, resourceOf } from './representation.ts'
import { errorResponse, jsonResponse, RequestError } from './responses.ts'

export interface MemoryApiOptions extends MemoryWatchOptions {
  readonly clock: Clock
  /** For uids and generated names. Default: seeded with 1. */
  readonly random?: Random
}

/**
 * A small in-memory Kubernetes API for the runtime's own unit tests, which cannot use the control plane: every kind by
 * its URL, without schemas, admission, RBAC or garbage collection. It fails on request.
 */
export class MemoryApi implements Transport {
  readonly #clock: Clock
  readonly #objects: MemoryObjects
  readonly #lists: MemoryLists
  readonly #watches: MemoryWatches
  readonly #interceptors = new Set<Interceptor>()
  readonly #requests: RecordedRequest[] = []
  #responseDelay: ((request: RecordedRequest) => number) | undefined

  constructor(options: MemoryApiOptions) {
    this.#clock = options.clock
    this.#objects = new MemoryObjects(options.clock, options.random ?? seededRandom(1))
    this.#lists = new MemoryLists(this.#objects)
    this.#watches = new MemoryWatches(this.#objects, options.clock, options)
  }

  // ---- for the test ----

  /** The requests so far, oldest first. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests
  }

  get openWatches(): number {
    return this.#watches.size
  }

  /** The newest resourceVersion. */
  get revision(): string {
    return String(this.#objects.store.revision)
  }

  /** Calls `listener` for every change of any object. Returns a function that ends this. */
  onChange(listener: (change: MemoryChange) => void): () => void {
    return this.#objects.store.onChange(listener)
  }

  clearRequests(): void {
    this.#requests.length = 0
  }

  /** The stored object, without a request. */
  peek<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined {
    return this.#objects.store.get(resourceOf(kind), keyOf(ref)) as Stored<T> | undefined
  }

  /** All stored objects of a kind, without a request. */
  objects<T extends KubeObject>(kind: Kind<T>): readonly Stored<T>[] {
    return this.#objects.store.list(resourceOf(kind)) as unknown as readonly Stored<T>[]
  }

  /** Stores an object as it is, with its status: creates or replaces it on behalf of others, without a request. */
  seed<T extends KubeObject>(kind: Kind<T>, object: T): Stored<T> {
    const body = object as JsonObject
    const { resourceVersion: _version, ...metadata } = metadataOf(body)
    const ref = { namespace: object.metadata?.namespace ?? '', name: object.metadata?.name ?? '' }
    const target = { ...kind, ...ref, subresource: '' }
    const live = this.#objects.store.get(resourceOf(kind), keyOf(ref))
    const stored = live
      ? this.#objects.replace(target, live, { ...body, metadata: { ...metadataOf(live), ...metadata } })
      : this.#objects.create(target, { ...body, metadata }, body['status'])
    return stored as unknown as Stored<T>
  }

  /** Removes an object at once, whatever its finalizers, on behalf of others, without a request. */
  unseed(kind: Kind, ref: ObjectRef): void {
    this.#objects.store.remove(resourceOf(kind), keyOf(ref))
  }

  /** Shows every request to `interceptor` first, which may answer or lose it. Returns a function that ends this. */
  intercept(interceptor: Interceptor): () => void {
    this.#interceptors.add(interceptor)
    return () => this.#interceptors.delete(interceptor)
  }

  /** Delays the response of a request that was carried out, in milliseconds. Undefined: no delay. */
  delayResponses(delay: ((request: RecordedRequest) => number) | undefined): void {
    this.#responseDelay = delay
  }

  /** Forgets history: a watch from an older resourceVersion, or the next page of an older list, gets 410. */
  compact(): void {
    this.#objects.store.compact()
    this.#lists.expirePages()
  }

  /** Breaks the connection of every open watch. */
  dropWatches(): void {
    this.#watches.forEach((stream) => stream.drop())
  }

  /** Ends every open watch as a server does at its timeout. */
  endWatches(): void {
    this.#watches.forEach((stream) => stream.end())
  }

  /** Leaves every open watch half-open: nothing more arrives on it. */
  stallWatches(): void {
    this.#watches.forEach((stream) => stream.stall())
  }

  /** Holds back the events of all watches, including those opened later. */
  holdWatches(): void {
    this.#watches.hold()
  }

  /** Delivers the next `count` held events of each watch. Default: all, and stops holding. */
  releaseWatches(count = Infinity): void {
    this.#watches.release(count)
  }

  /** Sends any line into every open watch: an ERROR event, garbage, or part of an event without `newline`. */
  injectWatchLine(line: string | object, newline = true): void {
    const text = typeof line === 'string' ? line : JSON.stringify(line)
    this.#watches.forEach((stream) => stream.push(newline ? `${text}\n` : text))
  }

  /** Sends a bookmark into every watch that requested them. */
  sendBookmarks(): void {
    this.#watches.bookmark()
  }

  close(): Promise<void> {
    this.dropWatches()
    return Promise.resolve()
  }

  // ---- for the client ----

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { signal } = request
    if (signal?.aborted) throw abortReason(signal)
    const response = await this.#respond(request)
    if (signal?.aborted) {
      response.body.cancel()
      throw abortReason(signal)
    }
    return { ...response, headers: { date: new Date(this.#clock.now()).toUTCString(), ...response.headers } }
  }

  async #respond(request: TransportRequest): Promise<TransportResponse> {
    const { signal } = request
    const recorded = readRequest(request, this.#clock.now())
    this.#requests.push(recorded)
    let interception: Interception
    for (const interceptor of this.#interceptors) interception ??= await interceptor(recorded)
    if (typeof interception === 'object') return interception
    if (interception === 'drop') throw connectionLost()
    if (signal?.aborted) throw abortReason(signal)
    const response = this.#carryOut(recorded, signal)
    try {
      const delay = this.#responseDelay?.(recorded) ?? 0
      if (delay > 0) await sleep(this.#clock, delay, signal)
      if (interception === 'drop-response') throw connectionLost()
    } catch (error) {
      response.body.cancel()
      throw error
    }
    return response
  }

  #carryOut(request: RecordedRequest, signal: AbortSignal | undefined): TransportResponse {
    const objects = this.#objects
    try {
      switch (request.verb) {
        case 'get':
          return objectResponse(request, 200, objects.find(request))
        case 'list':
          return jsonResponse(200, this.#lists.list(request))
        case 'watch':
          return this.#watches.open(request, signal)
        case 'create':
          return objectResponse(request, 201, objects.create(request, bodyOf(request)))
        case 'update':
          return objectResponse(request, 200, objects.update(request))
        case 'patch':
          return objectResponse(request, 200, objects.patch(request))
        case 'apply':
          return objects.apply(request)
        case 'delete':
          return objects.delete(request)
        default:
          throw new RequestError(405, 'MethodNotAllowed', `the in-memory API has no ${request.verb}`)
      }
    } catch (error) {
      if (error instanceof RequestError) return errorResponse(error)
      throw error
    }
  }
}

function connectionLost(): ConnectionError {
  return new ConnectionError('TENURE_CONNECTION_LOST', 'the connection to the API server was lost')
}
