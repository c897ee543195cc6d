import { abortReason, Client, type Kind, type KubeObject, refTo, type Stored, TenureError } from '@tenure/kube'
import { ConfigMap, Event, Job } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { type EventContent, type Logger, type Metrics, Probes, SharedInformers, silentLogger } from '@tenure/runtime'
import { noMetrics } from '@tenure/runtime'
import { MemoryApi, type RecordedRequest } from '@tenure/runtime/testing'
import { SEED_FAMILY } from '../api/annotations.ts'
import { defaultLeaseSettings, type LeaseSettings } from '../api/types.ts'
import {
  createKindController,
  type KindController,
  type KindControllerOptions,
} from '../controllers/lease/kind-controller.ts'

export const SEED = SEED_FAMILY.prefix
export const NEWER = 'object-lease-controller.ullberg.io/'

/** The annotations of a lease of a minute that ends with a cleanup job. */
export const withJob = (more: Readonly<Record<string, string>> = {}, prefix = SEED): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ttl: '60s', 'on-delete-job': 'scripts/run.sh', ...more }).map(([name, value]) => [
      prefix + name,
      value,
    ]),
  )

export interface Told extends EventContent {
  readonly name: string
}

export interface Process {
  readonly keeper: KindController
  readonly client: Client
  /** A clean stop. */
  stop(): Promise<void>
  /** As a kill would: nothing is finished; what it has under way never reaches the server. */
  kill(): void
}

export interface StartOptions extends Partial<Omit<KindControllerOptions, 'settings'>> {
  readonly settings?: Partial<LeaseSettings>
  readonly metrics?: Metrics
  /** Default: nobody reads it. */
  readonly log?: Logger
}

/** A server in memory, virtual time, and keepers that come and go. */
export class World {
  readonly clock = new VirtualClock()
  readonly server = new MemoryApi({ clock: this.clock })
  readonly told: Told[] = []
  /** As they were made, also those that are gone. */
  readonly everyJob: Stored<Job>[] = []
  /** How far ahead the keepers' wall clock is. */
  ahead = 0
  readonly #processes = new Set<Process>()

  constructor() {
    this.server.onChange(({ resource, before, after }) => {
      if (!resource.endsWith('jobs') || !after) return
      // What is stored is what was sent: whole objects.
      const job = after as unknown as Stored<Job>
      if (!before) this.everyJob.push(job)
      this.#clearFinished(job)
    })
  }

  async start(options: StartOptions = {}): Promise<Process> {
    const { server, clock: time } = this
    const clock = {
      now: () => time.now() + this.ahead,
      monotonic: () => time.monotonic(),
      setTimer: (delay: number, callback: () => void) => time.setTimer(delay, callback),
    }
    const random = seededRandom(5)
    let isDead = false
    const transport = {
      request: (request: Parameters<MemoryApi['request']>[0]) =>
        isDead ? neverAnswered(request.signal) : server.request(request),
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
          void (isDead || this.told.push({ ...event, name: object.metadata.name })),
      },
      probes: new Probes({ clock }),
      metrics,
      log,
      clock,
      random,
      namespace: 'default',
      isLeader: () => true,
    }
    const keeper = createKindController(context, {
      kind: ConfigMap,
      finder: {
        find: () => Promise.reject(new TenureError('TENURE_KIND_UNKNOWN', 'no such kind')),
        invalidate: () => undefined,
      },
      ...options,
      settings: { ...defaultLeaseSettings, ...options.settings },
    })
    const process: Process = {
      keeper,
      client,
      stop: async () => {
        this.#processes.delete(process)
        await keeper.stop(1_000)
        end.abort(new Error('stopped'))
        await informers.whenStopped()
      },
      kill: () => {
        isDead = true
        this.#processes.delete(process)
        void keeper.stop(0)
        end.abort(new Error('killed'))
      },
    }
    this.#processes.add(process)
    await keeper.start(new AbortController().signal)
    return process
  }

  /** An object with annotations, made now. */
  create(
    name: string,
    annotations: Readonly<Record<string, string>>,
    kind: Kind = ConfigMap,
    namespace = 'shop',
  ): void {
    this.server.seed(kind, { metadata: { name, ...(kind.namespaced && { namespace }), annotations } })
  }

  /** Somebody else's change of annotations; undefined removes one. */
  annotate(name: string, changes: Readonly<Record<string, string | undefined>>, kind: Kind = ConfigMap): void {
    const object = this.object(name, kind)
    if (!object) throw new Error(`there is no ${name}`)
    const annotations = Object.fromEntries(
      Object.entries({ ...object.metadata.annotations, ...changes }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>
    this.server.seed(kind, { ...object, metadata: { ...object.metadata, annotations } })
  }

  object(name: string, kind: Kind = ConfigMap): Stored<KubeObject> | undefined {
    return this.server.peek(kind, { name, ...(kind.namespaced && { namespace: 'shop' }) })
  }

  /** Its annotations, those of the seed's family without their prefix. */
  notes(name: string, kind: Kind = ConfigMap): Readonly<Record<string, string>> {
    const entries = Object.entries(this.object(name, kind)?.metadata.annotations ?? {})
    return Object.fromEntries(entries.map(([key, value]) => [key.replace(SEED, ''), value]))
  }

  get jobs(): readonly Stored<Job>[] {
    return this.server.objects(Job)
  }

  get firstJob(): Stored<Job> {
    const [job] = this.jobs
    if (!job) throw new Error('there is no job')
    return job
  }

  get headsUps(): readonly Stored<Event>[] {
    return this.server.objects(Event)
  }

  reasons(name: string): readonly string[] {
    return this.told.filter((event) => event.name === name).map(({ reason }) => reason)
  }

  /** Requests about leased objects, other than reads of many. */
  requests(verb?: RecordedRequest['verb'], plural = 'configmaps'): readonly RecordedRequest[] {
    return this.server.requests.filter(
      (request) =>
        request.plural === plural &&
        !['list', 'watch'].includes(request.verb) &&
        (verb === undefined || request.verb === verb),
    )
  }

  /** How a job ends, as the job controller would say. */
  finishJob({ metadata }: Stored<Job>, type: 'Complete' | 'Failed', reason = ''): void {
    const now = `${new Date(this.clock.now()).toISOString().slice(0, 19)}Z`
    const job = this.server.peek(Job, refTo({ metadata }))
    if (!job) throw new Error(`there is no ${metadata.name}`)
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
  }

  /** As the server's own controller does: a job goes so long after its end as it says, and stays if it does not say. */
  #clearFinished(job: Stored<Job>): void {
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

/** A request that is not sent any more; given up only with `signal`, as any other is. */
function neverAnswered(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(abortReason(signal))
    else signal?.addEventListener('abort', () => reject(abortReason(signal)), { once: true })
  })
}
