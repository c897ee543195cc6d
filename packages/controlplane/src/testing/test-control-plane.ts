import {
  abortReason,
  Client,
  type Clock,
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
import { CustomResourceDefinition, Namespace, ServiceAccount } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import type { Logger } from '@tenure/runtime'
import type { ControlledStream, Interception, Interceptor, RecordedRequest } from '@tenure/runtime/testing'
import {
  type AssembledControlPlane,
  assembleControlPlane,
  type ControlPlane,
  type ControlPlaneOptions,
} from '../control-plane.ts'
import { inVersion } from '../registry/decode/derived-object.ts'
import type { ResourceDefinition, User } from '../registry/types.ts'
import { type Credentials, loadCredentials } from '../server/auth/credentials.ts'
import type { Storage, StoredObject } from '../storage/types.ts'
import { connectionLost, controlledBody } from './controlled-body.ts'
import { recordOf } from './request-record.ts'
import { seededObject } from './seeded-object.ts'
import { type TestStorage, testStorage } from './test-storage.ts'

export interface TestControlPlaneOptions {
  /** Default: a new `VirtualClock`. */
  readonly clock?: Clock
  /** For uids, generated names and tokens. Default: seeded with 1. */
  readonly random?: Random
  /** Definitions to install before the start returns. `crdFor(kind)` makes one that accepts any fields. */
  readonly crds?: readonly CustomResourceDefinition[]
  /** Namespaces that exist from the start, besides `default` and those of the system. */
  readonly namespaces?: readonly string[]
  /** Whether the built-in controllers run (rollouts, garbage collection, jobs). Default false: a test plays their part. */
  readonly controllers?: boolean
  /** The simulated nodes of the built-in controllers. Default: one node. */
  readonly nodes?: ControlPlaneOptions['nodes']
  /** Default: silent. */
  readonly log?: Logger
}

/** One change of one object. `before` is undefined for a creation, `after` for a deletion. */
export interface ObjectChange<T extends KubeObject> {
  readonly before: Stored<T> | undefined
  readonly after: Stored<T> | undefined
}

/** How far virtual time moves while the built-in controllers start or stop, and how often. */
const STEP_MS = 10
const MAX_STEPS = 5_000

/** Made once: the keys of a control plane that serves in process only are used for ServiceAccount tokens alone. */
let credentials: Credentials | undefined

/**
 * The embedded control plane in process, for unit tests of operators: requests are recorded and can be answered, delayed
 * or lost; objects can be stored and read without a request; watches can be held back or broken.
 *
 * ```ts
 * const server = await TestControlPlane.start({ clock, crds: [websiteCrd] })
 * server.seed(ConfigMap, { metadata: { name: 'settings', namespace: 'default' } })
 * ```
 */
export class TestControlPlane {
  readonly clock: Clock
  /** For the code under test: its requests are recorded and intercepted. The user is an administrator. */
  readonly transport: Transport
  /** For the test itself, as a user or another controller: its requests are neither recorded nor intercepted. */
  readonly client: Client
  readonly #plane: ControlPlane
  readonly #catalog: AssembledControlPlane['catalog']
  readonly #flush: () => void
  readonly #random: Random
  readonly #hasControllers: boolean
  readonly #requests: RecordedRequest[] = []
  readonly #interceptors = new Set<Interceptor>()
  readonly #watches = new Set<ControlledStream>()
  #responseDelay: ((request: RecordedRequest) => number) | undefined
  #isHolding = false

  private constructor(
    { plane, catalog }: AssembledControlPlane,
    { flush }: TestStorage,
    { clock, random, controllers }: Required<Pick<TestControlPlaneOptions, 'clock' | 'random' | 'controllers'>>,
  ) {
    this.clock = clock
    this.#plane = plane
    this.#catalog = catalog
    this.#flush = flush
    this.#random = random
    this.#hasControllers = controllers
    this.transport = this.#recording(plane.transport)
    this.client = new Client({ transport: plane.transport, clock, random, fieldManager: 'test' })
  }

  static async start(options: TestControlPlaneOptions = {}): Promise<TestControlPlane> {
    const { clock = new VirtualClock(), random = seededRandom(1), controllers = false, nodes, log } = options
    const { crds = [], namespaces = [] } = options
    credentials ??= loadCredentials(undefined, ['127.0.0.1'], new VirtualClock(), seededRandom(1))
    const storage = testStorage(clock)
    const assembling = assembleControlPlane(
      { port: false, clock, random, controllers, nodes, log },
      { storage: storage.storage, credentials, makesServiceAccounts: true },
    )
    const parts = await (controllers ? whileTimePasses(clock, assembling) : assembling)
    const server = new TestControlPlane(parts, storage, { clock, random, controllers })
    if (!controllers) server.#keepServiceAccounts()
    for (const name of namespaces) server.#ensureNamespace(name)
    for (const crd of crds) await server.client.create(CustomResourceDefinition, crd)
    await parts.definitions.idle()
    return server
  }

  async stop(): Promise<void> {
    const stopping = this.#plane.stop()
    await (this.#hasControllers ? whileTimePasses(this.clock, stopping) : stopping)
  }

  /** As `transport`, for another user: RBAC decides what it may do. */
  transportAs(user: User): Transport {
    return this.#recording(this.#plane.transportFor({ user }))
  }

  /** The requests so far, oldest first. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests
  }

  clearRequests(): void {
    this.#requests.length = 0
  }

  /** The newest resourceVersion. */
  get revision(): string {
    return String(this.#storage.revision)
  }

  get openWatches(): number {
    return this.#watches.size
  }

  /** The stored object, without a request. */
  peek<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined {
    const definition = this.#definition(kind)
    const found = this.#storage.get(definition.bucket, keyOf(ref))
    return found && read<T>(found, definition)
  }

  /** All stored objects of a kind, in order of their keys, without a request. */
  objects<T extends KubeObject>(kind: Kind<T>): readonly Stored<T>[] {
    const definition = this.#definition(kind)
    return Array.from(this.#storage.range(definition.bucket), (found) => read<T>(found, definition))
  }

  /**
   * Stores an object as it is, with its status and without validation: creates it, or replaces the existing one. It
   * simulates the work of other clients, so it is not recorded as a request; watches see it. A missing namespace is
   * created. The object is visible on return, except to a listener of `onChange`: there it follows the change that is
   * being reported.
   */
  seed<T extends KubeObject>(kind: Kind<T>, object: T): Stored<T> {
    const definition = this.#definition(kind)
    const { name = '', namespace } = object.metadata ?? {}
    if (definition.namespaced) this.#ensureNamespace(namespace ?? '')
    const key = keyOf({ name, namespace: definition.namespaced ? namespace : undefined })
    const now = this.clock.now()
    let decided: KubeObject = object
    this.#write(definition.bucket, key, (current) => {
      const live = current && read<KubeObject>(current, definition)
      const decision = seededObject(object, live, { definition, now, random: this.#random })
      if ('put' in decision) decided = decision.put
      else if (live) decided = live
      return decision
    })
    const stored = this.#storage.get(definition.bucket, key)
    return stored ? read(stored, definition) : (decided as Stored<T>)
  }

  /** Removes an object at once, whatever its finalizers. It is not recorded as a request; watches see it. */
  unseed(kind: Kind, ref: ObjectRef): void {
    const { bucket } = this.#definition(kind)
    if (this.#storage.get(bucket, keyOf(ref))) this.#write(bucket, keyOf(ref), () => ({ remove: true }))
  }

  /** Calls `listener` for every change of a kind as it becomes visible. Returns a function that ends this. */
  onChange<T extends KubeObject>(kind: Kind<T>, listener: (change: ObjectChange<T>) => void): () => void {
    const definition = this.#definition(kind)
    return this.#storage.watch(definition.bucket, this.#storage.revision, ({ previous, current }) =>
      listener({
        before: previous && read<T>(previous, definition),
        after: current && read<T>(current, definition),
      }),
    )
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
    this.#storage.compact(this.#storage.revision)
  }

  /** Breaks the connection of every open watch. */
  dropWatches(): void {
    for (const watch of this.#watches) watch.drop()
  }

  /** Ends every open watch as a server does at its timeout. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end()
  }

  /** Leaves every open watch half-open: nothing more arrives on it. */
  stallWatches(): void {
    for (const watch of this.#watches) watch.stall()
  }

  /** Holds back the events of all watches, including those opened later. */
  holdWatches(): void {
    this.#isHolding = true
    for (const watch of this.#watches) watch.hold()
  }

  /** Delivers the next `count` held events of each watch. Default: all, and stops holding. */
  releaseWatches(count = Infinity): void {
    if (count === Infinity) this.#isHolding = false
    for (const watch of this.#watches) watch.release(count)
  }

  get #storage(): Storage {
    return this.#plane.storage
  }

  #definition({ group, version, plural, kind }: Kind): ResourceDefinition {
    const definition = this.#catalog.find(group, version, plural)
    if (definition) return definition
    throw new Error(`${kind} is not served: pass its definition, or crdFor(${kind}), as \`crds\` to start().`)
  }

  #write(bucket: string, key: string, decide: Parameters<Storage['write']>[2]): void {
    const written = this.#storage.write(bucket, key, decide)
    this.#flush()
    written.catch((error: unknown) =>
      queueMicrotask(() => {
        throw error
      }),
    )
  }

  #ensureNamespace(name: string): void {
    if (name === '') throw new Error('A namespaced object needs metadata.namespace.')
    if (this.#storage.get('namespaces', name)) return
    const labels = { 'kubernetes.io/metadata.name': name }
    this.seed(Namespace, {
      metadata: { name, labels },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  }

  /** Makes the ServiceAccount of each namespace, which pods get; without controllers no other component makes it. */
  #keepServiceAccounts(): void {
    const ensure = (namespace: string): void => {
      if (this.#storage.get('serviceaccounts', `${namespace}/default`)) return
      this.seed(ServiceAccount, { metadata: { name: 'default', namespace } })
    }
    for (const { metadata } of this.objects(Namespace)) ensure(metadata.name)
    this.onChange(Namespace, ({ before, after }) => {
      if (!before && after) ensure(after.metadata.name)
    })
  }

  #recording(transport: Transport): Transport {
    return {
      request: (request) => this.#request(transport, request),
      close: () => {
        this.dropWatches()
        return Promise.resolve()
      },
    }
  }

  async #request(transport: Transport, request: TransportRequest): Promise<TransportResponse> {
    const { signal } = request
    if (signal?.aborted) throw abortReason(signal)
    const recorded = recordOf(request, this.clock.now())
    this.#requests.push(recorded)
    let interception: Interception
    for (const interceptor of this.#interceptors) interception ??= await interceptor(recorded)
    if (signal?.aborted) throw abortReason(signal)
    if (interception === 'drop') throw connectionLost()
    if (typeof interception === 'object') return this.#dated(interception)
    const response = await transport.request(request)
    const delay = this.#responseDelay?.(recorded) ?? 0
    try {
      if (delay > 0) await sleep(this.clock, delay, signal)
      if (interception === 'drop-response') throw connectionLost()
    } catch (error) {
      response.body.cancel()
      throw error
    }
    return recorded.verb === 'watch' && response.status === 200 ? this.#controlled(response, signal) : response
  }

  #controlled(response: TransportResponse, signal: AbortSignal | undefined): TransportResponse {
    const body = controlledBody(response.body, { isHeld: this.#isHolding, signal }, () => this.#watches.delete(body))
    this.#watches.add(body)
    return { ...response, body }
  }

  /** Clients read the server's time from every response. */
  #dated(response: TransportResponse): TransportResponse {
    return { ...response, headers: { date: new Date(this.clock.now()).toUTCString(), ...response.headers } }
  }
}

/** A definition of a kind that accepts any fields and has a status, for tests that need no schema. */
export function crdFor({ group, version, kind, plural, namespaced }: Kind): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
}

function read<T extends KubeObject>(found: StoredObject, definition: ResourceDefinition): Stored<T> {
  return inVersion(found, definition).object as Stored<T>
}

/** Waits for work that itself waits for the clock. */
async function whileTimePasses<R>(clock: Clock, work: Promise<R>): Promise<R> {
  if (!(clock instanceof VirtualClock)) return work
  const state = { isDone: false }
  const done = work.finally(() => {
    state.isDone = true
  })
  done.catch(() => undefined)
  for (let step = 0; step < MAX_STEPS && !state.isDone; step++) await clock.advance(STEP_MS)
  return done
}
