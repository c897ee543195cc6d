import { asError, Client, type Transport, type TransportRequest, type TransportResponse } from '@tenure/kube'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { type Logger, manager, type ManagerOptions } from '@tenure/runtime'
import { MemoryApi } from '@tenure/runtime/testing'
import type { KindController, KindControllerOptions } from '../controllers/lease/kind-controller.ts'
import { LeaseController, type LeaseControllerSpec, type LeaseControllerStatus } from '../api/lease-controller.ts'
import { type LeaseControllersOptions, leaseControllersOperator } from '../controllers/lease-controller/operator.ts'

export interface ServedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Default: the kind in lower case with an s. */
  readonly plural?: string
  /** Default true. */
  readonly namespaced?: boolean
}

/** A keeper that does nothing but say what a test wants it to. */
export class FakeKeeper implements KindController {
  readonly name: string
  readonly options: KindControllerOptions
  activeLeases = 0
  nextExpiry: number | undefined
  problem: string | undefined
  state: 'new' | 'starting' | 'running' | 'stopped' = 'new'
  /** What `start` waits for. */
  readonly gate: Promise<void> | undefined

  constructor(options: KindControllerOptions, gate?: Promise<void>) {
    this.options = options
    this.name = `keeper of ${options.kind.kind}`
    this.gate = gate
  }

  async start(signal: AbortSignal): Promise<void> {
    this.state = 'starting'
    await this.gate
    signal.throwIfAborted()
    this.state = 'running'
  }

  stop(): Promise<void> {
    this.state = 'stopped'
    return Promise.resolve()
  }
}

/** The operator in a manager, on a server in memory that also tells what it serves. */
export class World {
  readonly clock = new VirtualClock()
  readonly server = new MemoryApi({ clock: this.clock })
  readonly client: Client
  readonly keepers: FakeKeeper[] = []
  readonly lines: string[] = []
  readonly served: ServedKind[] = [
    { group: '', version: 'v1', kind: 'Pod' },
    { group: '', version: 'v1', kind: 'ConfigMap' },
    { group: '', version: 'v1', kind: 'Node', namespaced: false },
    { group: 'apps', version: 'v1', kind: 'Deployment' },
  ]
  discoveries = 0
  readonly #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor() {
    this.client = new Client({ transport: this.#transport(), clock: this.clock, defaultNamespace: 'operator' })
  }

  async start(options: LeaseControllersOptions = {}, more: Partial<ManagerOptions> = {}): Promise<void> {
    const operator = leaseControllersOperator({
      definition: false,
      createKeeper: (_context, wanted) => {
        const keeper = new FakeKeeper(wanted)
        this.keepers.push(keeper)
        return keeper
      },
      ...options,
    })
    const subject = manager({
      controllers: operator.controllers,
      components: operator.components,
      transport: this.#transport(),
      clock: this.clock,
      random: seededRandom(5),
      namespace: 'operator',
      log: this.#logger(),
      freeze: true,
      ...more,
    })
    let failure: Error | undefined
    this.#running = subject.run(this.#end.signal).catch((error: unknown) => (failure = asError(error)))
    await this.until(() => failure !== undefined || this.lines.includes('info controller started'))
    if (failure) throw failure
  }

  async stop(): Promise<void> {
    let isOver = false
    this.#end.abort()
    void this.#running.then(() => (isOver = true))
    await this.clock.advanceUntil(() => isOver)
  }

  async until(condition: () => boolean): Promise<void> {
    await this.clock.advanceUntil(condition, 120_000)
  }

  put(name: string, spec: LeaseControllerSpec): void {
    const generation = (this.server.peek(LeaseController, { name })?.metadata.generation ?? 0) + 1
    const { status } = this.server.peek(LeaseController, { name }) ?? {}
    this.server.seed(LeaseController, { metadata: { name, generation }, spec, ...(status && { status }) })
  }

  status(name: string): LeaseControllerStatus | undefined {
    return this.server.peek(LeaseController, { name })?.status
  }

  /** `True Running`. */
  ready(name: string): string {
    const found = this.status(name)?.conditions?.find(({ type }) => type === 'Ready')
    return found ? `${found.status} ${found.reason}` : ''
  }

  /** The requests that changed something: `apply deployments/web`. */
  writes(): readonly string[] {
    return this.server.requests
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .map(({ verb, plural, name, subresource }) => `${verb} ${plural}/${name}${subresource && `/${subresource}`}`)
  }

  running(): readonly FakeKeeper[] {
    return this.keepers.filter(({ state }) => state === 'running')
  }

  #transport(): Transport {
    return {
      request: (request) => this.#discovery(request) ?? this.server.request(request),
      close: () => Promise.resolve(),
    }
  }

  #discovery({ path }: TransportRequest): Promise<TransportResponse> | undefined {
    if (path !== '/api' && path !== '/apis') return undefined
    if (path === '/apis') this.discoveries++
    const kinds = this.served.filter(({ group }) => (group === '') === (path === '/api'))
    const groups = Map.groupBy(kinds, ({ group }) => group)
    const items = [...groups].map(([name, ofGroup]) => ({
      metadata: { name },
      versions: [...Map.groupBy(ofGroup, ({ version }) => version)].map(([version, resources]) => ({
        version,
        resources: resources.map(({ kind, plural, namespaced }) => ({
          resource: plural ?? `${kind.toLowerCase()}s`,
          responseKind: { kind },
          scope: namespaced === false ? 'Cluster' : 'Namespaced',
          singularResource: kind.toLowerCase(),
          verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
        })),
      })),
    }))
    const bytes = new TextEncoder().encode(JSON.stringify({ kind: 'APIGroupDiscoveryList', items }))
    return Promise.resolve({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: {
        text: () => Promise.resolve(new TextDecoder().decode(bytes)),
        cancel: () => undefined,
        async *[Symbol.asyncIterator]() {
          yield bytes
        },
      },
    })
  }

  #logger(): Logger {
    const at =
      (level: string) =>
      (message: string): void =>
        void this.lines.push(`${level} ${message}`)
    const logger: Logger = {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: () => logger,
    }
    return logger
  }
}
