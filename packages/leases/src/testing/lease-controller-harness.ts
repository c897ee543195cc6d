import { setTimeout as delay } from 'node:timers/promises'
import { type AccessControl, httpServer, type View } from '@tenure/http'
import { asError, Client } from '@tenure/kube'
import { type Interceptor, TestControlPlane } from '@tenure/controlplane/testing'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import {
  configure,
  defineOperator,
  type Logger,
  type OperatorParts,
  runOperators,
  type RunOperatorsOptions,
} from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { leaseControllerDefinition } from '../api/crd.ts'
import { LeaseController, type LeaseControllerSpec, type LeaseControllerStatus } from '../api/lease-controller.ts'
import type { KindController, KindControllerOptions } from '../controllers/lease/kind-controller.ts'
import { leaseControllersConfig, type LeaseControllersSettings } from '../config.ts'
import type { DefaultLeaseController } from '../controllers/lease-controller/defaults.ts'
import { type KindControllerFactory, leaseControllersParts } from '../operator.ts'

export interface LeaseControllersHarnessOptions extends Partial<LeaseControllersSettings> {
  /** Default: fake controllers that start at once. */
  readonly createController?: KindControllerFactory
  /** Default: none. */
  readonly defaults?: readonly DefaultLeaseController[]
  /** Serves the HTTP API to `call`. `open`: to everyone. Default: it is not served. */
  readonly served?: 'open' | AccessControl
}

export interface HarnessAnswer {
  readonly status: number
  readonly json: unknown
}

/** A kind controller that only reports what a test sets. */
export class FakeKindController implements KindController {
  readonly name: string
  readonly options: KindControllerOptions
  activeLeases = 0
  nextExpiry: number | undefined
  problem: string | undefined
  state: 'new' | 'starting' | 'running' | 'stopped' = 'new'
  /** `start` waits for it. */
  readonly gate: Promise<void> | undefined

  constructor(options: KindControllerOptions, gate?: Promise<void>) {
    this.options = options
    this.name = `fake controller of ${options.kind.kind}`
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

/** The operator of LeaseControllers in a manager, on the embedded control plane. */
export class LeaseControllerHarness {
  readonly clock: VirtualClock
  readonly server: TestControlPlane
  readonly client: Client
  readonly controllers: FakeKindController[] = []
  readonly logLines: string[] = []
  readonly #end = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #parts: OperatorParts = {}
  #url: string | undefined

  private constructor(clock: VirtualClock, server: TestControlPlane) {
    this.clock = clock
    this.server = server
    this.client = new Client({ transport: server.transport, clock, defaultNamespace: 'operator' })
  }

  static async create(): Promise<LeaseControllerHarness> {
    const clock = new VirtualClock()
    const crds = [leaseControllerDefinition]
    const harness = new LeaseControllerHarness(
      clock,
      await TestControlPlane.start({ clock, crds, namespaces: ['operator'] }),
    )
    harness.server.clearRequests()
    return harness
  }

  async start(
    { createController, defaults = [], served, ...settings }: LeaseControllersHarnessOptions = {},
    leaderElection: RunOperatorsOptions['leaderElection'] = false,
  ): Promise<void> {
    const create: KindControllerFactory = (_context, wanted) => {
      const controller = new FakeKindController(wanted)
      this.controllers.push(controller)
      return controller
    }
    // Without the CRD, which the control plane has already.
    const operator = defineOperator({
      name: 'operator',
      config: leaseControllersConfig,
      identity: { leaderLease: 'operator' },
      setup: (context) => {
        this.#parts = leaseControllersParts(context, { createController: createController ?? create, defaults })
        return this.#parts
      },
    })
    const running = runOperators(
      {
        operators: [
          configure(operator, {
            ...defaultValues(operator.config),
            podName: 'self',
            createDefaultLeaseControllers: defaults.length > 0,
            ...settings,
          }),
        ],
        leaderElection,
        transport: this.server.transport,
        clock: this.clock,
        random: seededRandom(5),
        namespace: 'operator',
        log: this.#logger(),
        freeze: true,
        ...(served && {
          servers: [
            httpServer({
              address: '127.0.0.1:0',
              ...(served !== 'open' && { accessControl: served }),
              onListening: ({ url }) => (this.#url = url),
            }),
          ],
        }),
      },
      this.#end.signal,
    )
    let failure: Error | undefined
    this.#running = running.catch((error: unknown) => (failure = asError(error)))
    const isStarted = (): boolean => failure !== undefined || this.logLines.includes('info controller started')
    await (served ? this.#untilInRealTime(isStarted) : this.until(isStarted))
    if (failure) throw failure
  }

  async stop(): Promise<void> {
    let isOver = false
    this.#end.abort()
    void this.#running.then(() => (isOver = true))
    await (this.#url === undefined ? this.clock.advanceUntil(() => isOver) : this.#untilInRealTime(() => isOver))
    await this.server.stop()
  }

  /** A view of the operator. */
  view(name: string): View {
    const view = this.#parts.views?.find((each) => each.name === name)
    if (!view) throw new Error(`no view ${name}`)
    return view
  }

  /** Sends a request to the HTTP API while time passes. */
  async call(method: string, target: string, body?: object): Promise<HarnessAnswer> {
    const headers = { authorization: 'Bearer x', ...(body && { 'content-type': 'application/json' }) }
    const send = async (): Promise<HarnessAnswer> => {
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await fetch(`${this.#url}${target}`, init)
      const text = await response.text()
      return { status: response.status, json: text === '' ? undefined : (JSON.parse(text) as unknown) }
    }
    let isOver = false
    const answer = send().finally(() => (isOver = true))
    answer.catch(() => undefined)
    await this.#untilInRealTime(() => isOver)
    return await answer
  }

  /** Sockets work in real time, so virtual time must not run ahead of it by far. */
  async #untilInRealTime(condition: () => boolean): Promise<void> {
    const end = Date.now() + 15_000
    while (!condition()) {
      if (Date.now() > end) throw new Error(`Not met within 15 s: ${String(condition)}`)
      await delay(1)
      await this.clock.advance(1)
    }
  }

  async until(condition: () => boolean): Promise<void> {
    await this.clock.advanceUntil(condition, 120_000)
  }

  /** Creates a LeaseController or changes its spec. */
  put(name: string, spec: LeaseControllerSpec): void {
    const { status } = this.server.peek(LeaseController, { name }) ?? {}
    this.server.seed(LeaseController, { metadata: { name }, spec, ...(status && { status }) })
  }

  status(name: string): LeaseControllerStatus | undefined {
    return this.server.peek(LeaseController, { name })?.status
  }

  /** Status and reason of the Ready condition: `True Running`. */
  ready(name: string): string {
    const found = this.status(name)?.conditions?.find(({ type }) => type === 'Ready')
    return found ? `${found.status} ${found.reason}` : ''
  }

  /** The requests that change something: `apply deployments/web`. */
  writes(): readonly string[] {
    return this.server.requests
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .map(({ verb, plural, name, subresource }) => `${verb} ${plural}/${name}${subresource && `/${subresource}`}`)
  }

  /** Number of discovery requests. */
  get discoveries(): number {
    return this.server.requests.filter(({ path }) => path === '/apis').length
  }

  /** Answers discovery with the current state until the returned function is called: a real server lags, too. */
  async holdDiscovery(): Promise<() => void> {
    const headers = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }
    const text = await (await this.server.transport.request({ method: 'GET', path: '/apis', headers })).body.text()
    const bytes = new TextEncoder().encode(text)
    const answer: Interceptor = ({ path }) =>
      path === '/apis'
        ? {
            status: 200,
            headers: { 'content-type': headers.accept },
            body: {
              text: () => Promise.resolve(text),
              cancel: () => undefined,
              async *[Symbol.asyncIterator]() {
                yield bytes
              },
            },
          }
        : undefined
    return this.server.intercept(answer)
  }

  running(): readonly FakeKindController[] {
    return this.controllers.filter(({ state }) => state === 'running')
  }

  #logger(): Logger {
    const at =
      (level: string) =>
      (message: string): void =>
        void this.logLines.push(`${level} ${message}`)
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
