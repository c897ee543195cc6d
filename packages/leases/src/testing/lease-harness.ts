import { abortReason, Client, type Kind, type KubeObject, refTo, type Stored } from '@tenure/kube'
import { ConfigMap, Deployment, Event, Job } from '@tenure/kube/kinds'
import { type RecordedRequest, refuse, TestControlPlane } from '@tenure/controlplane/testing'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import {
  Discovery,
  type EventContent,
  type Logger,
  type Metrics,
  Probes,
  SharedInformers,
  silentLogger,
} from '@tenure/runtime'
import { noMetrics } from '@tenure/runtime'
import { NEWER_FAMILY, SEED_FAMILY } from '../api/annotations.ts'
import { defaultLeaseSettings, type LeaseSettings } from '../api/types.ts'
import {
  createKindController,
  type KindController,
  type KindControllerOptions,
} from '../controllers/lease/kind-controller.ts'
import { deploymentSpec } from './objects.ts'

export const SEED = SEED_FAMILY.prefix
export const NEWER = NEWER_FAMILY.prefix

/** Annotations of a lease of one minute that ends with a cleanup job. */
export const withJob = (more: Readonly<Record<string, string>> = {}, prefix = SEED): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ttl: '60s', 'on-delete-job': 'scripts/run.sh', ...more }).map(([name, value]) => [
      prefix + name,
      value,
    ]),
  )

export interface RecordedEvent extends EventContent {
  readonly name: string
}

/** The answer to a user without a permission. */
export const denied = (verb: string, resource: string, group = '') =>
  refuse(
    403,
    'Forbidden',
    `${resource} is forbidden: User "tenure" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "shop"`,
  )

/** One run of a lease controller. */
export interface LeaseProcess {
  readonly controller: KindController
  readonly client: Client
  /** Stops cleanly. */
  stop(): Promise<void>
  /** Stops as a SIGKILL does: requests in progress never reach the server. */
  kill(): void
}

export interface LeaseProcessOptions extends Partial<Omit<KindControllerOptions, 'settings'>> {
  readonly settings?: Partial<LeaseSettings>
  readonly metrics?: Metrics
  /** Default: silent. */
  readonly log?: Logger
}

/** The embedded control plane in virtual time, with lease controllers that start, stop and crash. */
export class LeaseHarness {
  readonly clock: VirtualClock
  readonly server: TestControlPlane
  readonly events: RecordedEvent[] = []
  /** Every job as created, including deleted ones. */
  readonly everyJob: Stored<Job>[] = []
  /** Milliseconds by which the controllers' wall clock is ahead of the server's. */
  clockOffset = 0
  readonly #processes = new Set<LeaseProcess>()
  /** Timers of the server. */
  readonly #serverTimers: number

  protected constructor(clock: VirtualClock, server: TestControlPlane) {
    this.clock = clock
    this.server = server
    this.#serverTimers = clock.pending
    server.onChange(Job, ({ before, after }) => {
      if (!after) return
      if (!before) this.everyJob.push(after)
      this.#removeAfterTtl(after)
    })
  }

  static async create(): Promise<LeaseHarness> {
    const clock = new VirtualClock()
    return new LeaseHarness(clock, await TestControlPlane.start({ clock, namespaces: ['shop'] }))
  }

  /** Starts a lease controller, of ConfigMaps by default. */
  async start(options: LeaseProcessOptions = {}): Promise<LeaseProcess> {
    const { server, clock: time } = this
    const clock = {
      now: () => time.now() + this.clockOffset,
      monotonic: () => time.monotonic(),
      setTimer: (delay: number, callback: () => void) => time.setTimer(delay, callback),
    }
    const random = seededRandom(5)
    let isDead = false
    const transport: TestControlPlane['transport'] = {
      request: (request) => (isDead ? neverAnswered(request.signal) : server.transport.request(request)),
      close: () => Promise.resolve(),
    }
    const client = new Client({ transport, clock, random, retry: { attempts: 1 } })
    const { metrics = noMetrics, log = silentLogger } = options
    const informers = new SharedInformers({ api: client, clock, random, log, metrics, freeze: true })
    const end = new AbortController()
    informers.start(end.signal)
    const context = {
      api: client,
      informers,
      recorder: {
        record: (object: Stored<KubeObject>, event: EventContent) =>
          void (isDead || this.events.push({ ...event, name: object.metadata.name })),
      },
      probes: new Probes({ clock }),
      metrics,
      log,
      clock,
      random,
      namespace: 'default',
      isLeader: () => true,
      settings: {},
      discovery: new Discovery(client.requester, clock),
      identity: { name: 'tenure', process: 'test', lease: undefined },
    }
    const controller = createKindController(context, {
      kind: ConfigMap,
      ...options,
      settings: { ...defaultLeaseSettings, ...options.settings },
    })
    const process: LeaseProcess = {
      controller,
      client,
      stop: async () => {
        this.#processes.delete(process)
        await controller.stop(1_000)
        end.abort(new Error('stopped'))
        await informers.whenStopped()
      },
      kill: () => {
        isDead = true
        this.#processes.delete(process)
        void controller.stop(0)
        end.abort(new Error('killed'))
      },
    }
    this.#processes.add(process)
    await controller.start(new AbortController().signal)
    return process
  }

  /** Creates an object with annotations, now. */
  create(
    name: string,
    annotations: Readonly<Record<string, string>>,
    kind: Kind = ConfigMap,
    namespace = 'shop',
  ): void {
    const spec = kind === Deployment && { spec: deploymentSpec }
    this.server.seed(kind, { metadata: { name, ...(kind.namespaced && { namespace }), annotations }, ...spec })
  }

  /** Changes annotations as a user does; undefined removes one. */
  annotate(name: string, changes: Readonly<Record<string, string | undefined>>, kind: Kind = ConfigMap): void {
    const object = this.object(name, kind)
    if (!object) throw new Error(`${name} does not exist`)
    const annotations = Object.fromEntries(
      Object.entries({ ...object.metadata.annotations, ...changes }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>
    this.server.seed(kind, { ...object, metadata: { ...object.metadata, annotations } })
  }

  object(name: string, kind: Kind = ConfigMap): Stored<KubeObject> | undefined {
    return this.server.peek(kind, { name, ...(kind.namespaced && { namespace: 'shop' }) })
  }

  /** The annotations of an object, those of the seed's family without their prefix. */
  annotations(name: string, kind: Kind = ConfigMap): Readonly<Record<string, string>> {
    const entries = Object.entries(this.object(name, kind)?.metadata.annotations ?? {})
    return Object.fromEntries(entries.map(([key, value]) => [key.replace(SEED, ''), value]))
  }

  /** Calls `listener` after every change of a ConfigMap or a Job. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    const ends = [this.server.onChange(ConfigMap, listener), this.server.onChange(Job, listener)]
    return () => ends.forEach((end) => end())
  }

  /** Timers of the lease controllers. */
  get pendingTimers(): number {
    return this.clock.pending - this.#serverTimers
  }

  get jobs(): readonly Stored<Job>[] {
    return this.server.objects(Job)
  }

  get firstJob(): Stored<Job> {
    const [job] = this.jobs
    if (!job) throw new Error('no job exists')
    return job
  }

  get expiryWarnings(): readonly Stored<Event>[] {
    return this.server.objects(Event)
  }

  reasons(name: string): readonly string[] {
    return this.events.filter((event) => event.name === name).map(({ reason }) => reason)
  }

  /** Requests about single objects with leases. */
  requests(verb?: RecordedRequest['verb'], plural = 'configmaps'): readonly RecordedRequest[] {
    return this.server.requests.filter(
      (request) =>
        request.plural === plural &&
        !['list', 'watch'].includes(request.verb) &&
        (verb === undefined || request.verb === verb),
    )
  }

  /** Ends a job as the job controller does. */
  finishJob({ metadata }: Stored<Job>, type: 'Complete' | 'Failed', reason = ''): void {
    const now = `${new Date(this.clock.now()).toISOString().slice(0, 19)}Z`
    const job = this.server.peek(Job, refTo({ metadata }))
    if (!job) throw new Error(`${metadata.name} does not exist`)
    this.server.seed(Job, {
      ...job,
      status: {
        startTime: job.metadata.creationTimestamp,
        conditions: [{ type, status: 'True', reason, message: reason, lastTransitionTime: now }],
      },
    })
  }

  async stop(): Promise<void> {
    for (const process of this.#processes) process.kill()
    await this.clock.advance(0)
    await this.server.stop()
  }

  /** Plays the TTL controller: a finished job is removed after its TTL, if it has one. */
  #removeAfterTtl(job: Stored<Job>): void {
    const end = job.status?.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed')?.lastTransitionTime
    const ttl = job.spec?.ttlSecondsAfterFinished
    if (end === undefined || ttl === undefined) return
    this.clock.setTimer(Date.parse(end) + ttl * 1_000 - this.clock.now(), () => {
      const stored = this.server.peek(Job, refTo(job))
      const isSame = stored?.metadata.uid === job.metadata.uid && stored.spec?.ttlSecondsAfterFinished === ttl
      if (isSame) this.server.unseed(Job, refTo(job))
    })
  }
}

/** A request that never reaches the server; it ends only with `signal`. */
function neverAnswered(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(abortReason(signal))
    else signal?.addEventListener('abort', () => reject(abortReason(signal)), { once: true })
  })
}
