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
import { jsonAnswer, Refusal, statusOf } from './memory-answer.ts'
import { objectAnswer, resourceOf } from './memory-form.ts'
import { childOf, copyOf, stringOf, type Json } from './memory-json.ts'
import { MemoryLists } from './memory-lists.ts'
import { bodyOf, isDryRun, MemoryObjects } from './memory-objects.ts'
import { readRequest, type RecordedRequest, type Verb } from './memory-request.ts'
import type { Change } from './memory-store.ts'
import { MemoryWatches } from './memory-watches.ts'

export { refuse } from './memory-answer.ts'
export type { RecordedRequest, Verb } from './memory-request.ts'
export type { Change } from './memory-store.ts'

/** `drop`: not carried out, the connection breaks. `drop-answer`: carried out, and the answer is lost. */
export type Interception = TransportResponse | 'drop' | 'drop-answer' | undefined
export type Interceptor = (request: RecordedRequest) => Interception | Promise<Interception>

export interface MemoryApiOptions {
  readonly clock: Clock
  /** For uids and generated names. Default: seeded with 1. */
  readonly random?: Random
  /** How watches with `sendInitialEvents` are met: served, refused (422), or as an old server, ignored. Default `serve`. */
  readonly initialEvents?: 'serve' | 'refuse' | 'ignore'
  /** Milliseconds between the bookmarks of a watch that asked for them; 0 sends none. Default 60,000. */
  readonly bookmarkEvery?: number
  /** Bytes per chunk of a watch. Default: whatever is there, at once. */
  readonly watchChunkBytes?: number
  /** How a watch from a forgotten resourceVersion is told: in the stream, as real servers do, or by status. Default `stream`. */
  readonly expiry?: 'stream' | 'status'
}

/**
 * A small Kubernetes API in memory, for unit tests: every kind by its URL, without schemas, admission, RBAC or
 * garbage collection. It answers as a real server does where controllers notice, and fails on request.
 */
export class MemoryApi implements Transport {
  readonly #clock: Clock
  readonly #objects: MemoryObjects
  readonly #lists: MemoryLists
  readonly #watches: MemoryWatches
  readonly #interceptors = new Set<Interceptor>()
  readonly #requests: RecordedRequest[] = []
  #delay: ((request: RecordedRequest) => number) | undefined

  constructor(options: MemoryApiOptions) {
    this.#clock = options.clock
    this.#objects = new MemoryObjects(options.clock, options.random ?? seededRandom(1))
    this.#lists = new MemoryLists(this.#objects)
    this.#watches = new MemoryWatches(this.#objects, this.#lists, options.clock, {
      initialEvents: options.initialEvents ?? 'serve',
      bookmarkEvery: options.bookmarkEvery ?? 60_000,
      watchChunkBytes: options.watchChunkBytes,
      expiry: options.expiry ?? 'stream',
    })
  }

  // ---- what a test sees and does ----

  /** Every request so far, oldest first. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests
  }

  get openWatches(): number {
    return this.#watches.size
  }

  /** The latest resourceVersion of all. */
  get revision(): string {
    return String(this.#objects.store.revision)
  }

  /** Calls `listener` for every change of any object, as it happens. Returns what ends that. */
  onChange(listener: (change: Change) => void): () => void {
    return this.#objects.store.onChange(listener)
  }

  clearRequests(): void {
    this.#requests.length = 0
  }

  /** What is stored, without a request. */
  peek<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined {
    return this.#objects.store.get(resourceOf(kind), keyOf(ref)) as Stored<T> | undefined
  }

  /** All that is stored of a kind, without a request. */
  objects<T extends KubeObject>(kind: Kind<T>): readonly Stored<T>[] {
    return [...this.#objects.store.list(resourceOf(kind)).values()] as unknown as readonly Stored<T>[]
  }

  /** Stores an object as it is, with its status: creates it, or replaces what is there. Others' work, so no request. */
  seed<T extends KubeObject>(kind: Kind<T>, object: T): Stored<T> {
    const body = copyOf(object) as unknown as Json
    const metadata = childOf(body, 'metadata')
    const target = { ...kind, namespace: stringOf(metadata['namespace']), name: '', subresource: '' }
    const live = this.#objects.store.get(resourceOf(target), keyOf({ ...target, name: stringOf(metadata['name']) }))
    const { resourceVersion: _version, ...rest } = metadata
    const wanted: Json = { ...body, metadata: live ? { ...childOf(live, 'metadata'), ...rest } : rest }
    const stored = live
      ? this.#objects.replace(target, live, wanted)
      : this.#objects.create(target, wanted, wanted['status'])
    return stored as unknown as Stored<T>
  }

  /** Takes an object away at once, whatever its finalizers. Others' work, so no request. */
  unseed(kind: Kind, ref: ObjectRef): void {
    this.#objects.store.remove(resourceOf(kind), keyOf(ref))
  }

  /** Sees every request first, and may answer it or break it. Returns what ends that. */
  intercept(interceptor: Interceptor): () => void {
    this.#interceptors.add(interceptor)
    return () => this.#interceptors.delete(interceptor)
  }

  /** Every answer, of a request already carried out, comes this many milliseconds later. Undefined: at once. */
  delayAnswers(delay: ((request: RecordedRequest) => number) | undefined): void {
    this.#delay = delay
  }

  /** Lists that accept an older state (`resourceVersion=0`, `NotOlderThan`) get that of this revision. Undefined: the latest. */
  serveStale(revision: string | undefined): void {
    this.#lists.serveStale(revision === undefined ? undefined : Number(revision))
  }

  /** Forgets history: watches from an older resourceVersion, and pages of older lists, are answered with 410. */
  compact(): void {
    this.#objects.store.compact()
    this.#lists.forgetPages()
  }

  /** Breaks every watch's connection. */
  dropWatches(): void {
    this.#watches.forEach((stream) => stream.drop())
  }

  /** Ends every watch as a server does whose time-out passed. */
  endWatches(): void {
    this.#watches.forEach((stream) => stream.end())
  }

  /** Leaves every watch that is open now half-open: nothing more arrives on it. */
  stallWatches(): void {
    this.#watches.forEach((stream) => stream.stall())
  }

  /** Keeps back what watches would send, those opened later too. */
  holdWatches(): void {
    this.#watches.hold()
  }

  /** Sends the next `count` lines each watch held back. Default: all, and holds back no more. */
  releaseWatches(count = Infinity): void {
    this.#watches.release(count)
  }

  /** Sends any line into every open watch: an ERROR event, rubbish, half an event. Ends it with a newline unless told not to. */
  injectWatchLine(line: string | object, newline = true): void {
    const text = typeof line === 'string' ? line : JSON.stringify(line)
    this.#watches.forEach((stream) => stream.push(newline ? `${text}\n` : text))
  }

  /** Sends a bookmark into every watch that asked for them. */
  sendBookmarks(): void {
    this.#watches.bookmark()
  }

  close(): Promise<void> {
    this.dropWatches()
    return Promise.resolve()
  }

  // ---- the server ----

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.signal?.aborted) throw abortReason(request.signal)
    const answer = await this.#respond(request)
    if (request.signal?.aborted) {
      answer.body.cancel()
      throw abortReason(request.signal)
    }
    return { ...answer, headers: { date: new Date(this.#clock.now()).toUTCString(), ...answer.headers } }
  }

  async #respond(request: TransportRequest): Promise<TransportResponse> {
    let recorded: RecordedRequest
    try {
      recorded = readRequest(request, this.#clock.now())
    } catch (error) {
      return refusalAnswer(error)
    }
    this.#requests.push(recorded)
    let interception: Interception
    for (const interceptor of this.#interceptors) interception ??= await interceptor(recorded)
    if (typeof interception === 'object') return interception
    if (interception === 'drop') throw connectionLost()
    if (request.signal?.aborted) throw abortReason(request.signal)
    const answer = this.#carryOut(recorded, request.signal)
    const delay = this.#delay?.(recorded) ?? 0
    if (delay > 0) {
      await sleep(this.#clock, delay, request.signal).catch((error: unknown) => {
        answer.body.cancel()
        throw error
      })
    }
    if (interception === 'drop-answer') {
      answer.body.cancel()
      throw connectionLost()
    }
    return answer
  }

  #carryOut(request: RecordedRequest, signal: AbortSignal | undefined): TransportResponse {
    const objects = this.#objects
    const verbs: Record<Verb, () => TransportResponse> = {
      get: () => objectAnswer(request, 200, objects.find(request)),
      list: () => jsonAnswer(200, this.#lists.list(request)),
      watch: () => this.#watches.open(request, signal),
      create: () => objectAnswer(request, 201, objects.create(request, bodyOf(request), undefined, isDryRun(request))),
      update: () => objectAnswer(request, 200, objects.update(request)),
      patch: () => objectAnswer(request, 200, objects.patch(request)),
      apply: () => objects.apply(request),
      delete: () => objects.delete(request),
      deletecollection: () => objects.deleteCollection(request),
    }
    try {
      return verbs[request.verb]()
    } catch (error) {
      return refusalAnswer(error)
    }
  }
}

function refusalAnswer(error: unknown): TransportResponse {
  if (!(error instanceof Refusal)) throw error
  return jsonAnswer(error.status, statusOf(error))
}

function connectionLost(): ConnectionError {
  return new ConnectionError('TENURE_CONNECTION_LOST', 'the connection to the API server was lost')
}
