import type { Clock, Random } from '@tenure/kube'
import { Client, TenureError, systemClock, systemRandom } from '@tenure/kube'
import { ControllerRunner } from '../controller/index.ts'
import { DeclaredKinds } from '../controller/declared-kinds.ts'
import { LeaderElector, fenced } from '../election/index.ts'
import { EventRecorder } from '../events/index.ts'
import { Probes } from '../health/index.ts'
import { SharedInformers } from '../informer/index.ts'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import type { Component, ManagerContext, Stage } from './component.ts'
import { connect } from './connection.ts'
import type { Connection } from './connection.ts'
import type { LeaderElectionSettings, ManagerOptions } from './options.ts'
import { metricsComponent, probesComponent, webhooksComponent } from './servers.ts'
import { stopSignals } from './signals.ts'
import { StartedComponents } from './stages.ts'

const DEFAULT_GRACE = 30_000

/** Makes a manager. Nothing happens before `run`. */
export function manager(options: ManagerOptions): Manager {
  return new Manager(options)
}

/**
 * Runs controllers and what they need: probes and HTTP first, then webhooks, then caches, then what follows the
 * leader; stops in reverse. When the lease is lost, what leads stops at once.
 */
export class Manager {
  readonly #options: ManagerOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  #session: Session | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#log = options.log ?? silentLogger
  }

  /** What components are given: undefined unless it runs. */
  get context(): ManagerContext | undefined {
    return this.#session?.context
  }

  /**
   * Runs until `signal` aborts, or, without one, until SIGINT or SIGTERM; resolves after a clean stop. Rejects if
   * something could not be started, or if leadership was lost.
   */
  async run(signal?: AbortSignal): Promise<void> {
    if (this.#session) {
      throw new TenureError('TENURE_MANAGER_RUNNING', 'This manager already runs; run it once at a time.', {
        fate: 'bug',
      })
    }
    const signals = signal ? undefined : stopSignals(this.#log)
    const stop = signal ?? signals?.signal ?? new AbortController().signal
    let connection: Connection | undefined
    try {
      const metrics = this.#options.metrics ?? (await this.#defaultMetrics())
      connection = await connect(this.#options, metrics)
      this.#session = new Session(this.#options, {
        connection,
        metrics,
        clock: this.#clock,
        random: this.#random,
        log: this.#log,
      })
      await this.#session.run(stop)
    } finally {
      this.#session = undefined
      await connection?.close()
      signals?.dispose()
    }
  }

  async #defaultMetrics(): Promise<Metrics> {
    if (!this.#options.metricsAddress) return noMetrics
    const { createMetrics } = await import('../metrics/prometheus.ts')
    return createMetrics()
  }
}

interface Surroundings {
  readonly connection: Connection
  readonly metrics: Metrics
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** One run of a manager. */
class Session {
  readonly context: ManagerContext
  readonly #options: ManagerOptions
  readonly #around: Surroundings
  readonly #informers: SharedInformers
  readonly #recorder: EventRecorder
  readonly #elector: LeaderElector | undefined
  /** Writes through it pass only while we lead. */
  readonly #leaderApi: Client

  constructor(options: ManagerOptions, around: Surroundings) {
    const { connection, clock, random, log, metrics } = around
    const fieldManager = options.name ?? 'tenure'
    const client = { clock, random, fieldManager, defaultNamespace: connection.namespace }
    const api = new Client({ ...client, transport: connection.transport })
    this.#options = options
    this.#around = around
    this.#informers = new SharedInformers({
      api,
      clock,
      random,
      log,
      metrics,
      keepManagedFieldsOf: [fieldManager],
      ...(options.freeze !== undefined && { freeze: options.freeze }),
    })
    this.#recorder = new EventRecorder({ api, clock, random, log, metrics, controller: fieldManager })
    this.#elector = electorOf(options, { api, clock, random, log, metrics }, connection.namespace)
    const isLeader = (): boolean => this.#elector?.isLeader() ?? true
    this.#leaderApi = this.#elector
      ? new Client({ ...client, transport: fenced(connection.transport, this.#elector) })
      : api
    if (this.#elector) this.#informers.observe(this.#leaderApi)
    this.context = {
      api,
      informers: this.#informers,
      recorder: this.#recorder,
      probes: new Probes({ clock }),
      metrics,
      log,
      clock,
      random,
      namespace: connection.namespace,
      isLeader,
    }
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock, log } = this.#around
    const started = new StartedComponents(clock, log)
    const grace = this.#options.gracePeriod ?? DEFAULT_GRACE
    let isLost = false
    try {
      this.context.probes.add('ready', 'informers', () => this.#checkInformers())
      await started.start([...this.#servers(), ...this.#components('serve')], stop)
      await started.start(this.#webhooks(), stop)
      await started.start([this.#caches()], stop)
      await started.start(this.#components('work'), stop)
      log.info('manager started')
      isLost = await this.#lead(stop, grace)
    } catch (error) {
      // Being told to stop while starting is a clean stop.
      if (!stop.aborted) throw error
    } finally {
      await started.stop(isLost ? 0 : grace)
      log.info('manager stopped')
    }
    if (isLost) throw leadershipLost()
  }

  /** Leads, or waits to, until told to stop; true if leadership was lost and that ends the manager. */
  async #lead(stop: AbortSignal, grace: number): Promise<boolean> {
    const elector = this.#elector
    if (!elector) {
      await this.#runTerm(stop, stop, grace)
      return false
    }
    const campaigns = settingsOf(this.#options)?.whenLost === 'campaign'
    for (;;) {
      const end = await elector.run(stop, { onStarted: (term) => this.#runTerm(term, stop, grace) })
      if (end === 'stopped') return false
      if (!campaigns) return true
    }
  }

  /** One term: starts what leads, and stops it when the term ends; at once, if that is not because of `stop`. */
  async #runTerm(term: AbortSignal, stop: AbortSignal, grace: number): Promise<void> {
    const { clock, log } = this.#around
    const started = new StartedComponents(clock, log)
    try {
      await started.start([...this.#controllers(), ...this.#components('lead')], term)
      await whenAborted(term)
    } catch (error) {
      if (!term.aborted) throw error
    } finally {
      await started.stop(stop.aborted ? grace : 0)
    }
  }

  #servers(): readonly Component[] {
    const { probes, metricsAddress } = this.#options
    return [
      ...(probes === undefined ? [] : [probesComponent(probes, this.context)]),
      ...(metricsAddress === undefined ? [] : [metricsComponent(metricsAddress, this.context)]),
    ]
  }

  #webhooks(): readonly Component[] {
    return this.#options.webhooks ? [webhooksComponent(this.#options.webhooks, this.context)] : []
  }

  /** Informers of everything the controllers declare, on every replica, so that a new leader begins with full caches. */
  #caches(): Component {
    const ended = new AbortController()
    const kinds = (this.#options.controllers ?? []).map((definition) => new DeclaredKinds(definition, this.#informers))
    const sources = kinds.flatMap((declared) => declared.sources)
    return {
      name: 'caches',
      start: async (signal) => {
        this.#informers.start(ended.signal)
        await Promise.all(sources.map(({ informer }) => informer.whenSynced(signal)))
      },
      stop: async (grace) => {
        await this.#recorder.close(Math.min(grace, 5_000))
        ended.abort(new Error('the manager stops'))
        await this.#informers.whenStopped()
      },
    }
  }

  #controllers(): readonly Component[] {
    const { tracer, onStep, name = 'tenure' } = this.#options
    return (this.#options.controllers ?? []).map((definition) => {
      const runner = new ControllerRunner(definition, {
        ...this.#around,
        api: this.#leaderApi,
        informers: this.#informers,
        recorder: this.#recorder,
        fieldManager: name,
        tracer,
        onStep,
      })
      return {
        name: `controller ${definition.name}`,
        start: (signal) => runner.start(signal),
        stop: (grace) => runner.stop({ grace }),
      }
    })
  }

  #components(stage: Stage): readonly Component[] {
    const context = stage === 'lead' ? { ...this.context, api: this.#leaderApi } : this.context
    return (this.#options.components ?? [])
      .filter((definition) => definition.stage === stage)
      .map((definition) => definition.create(context))
  }

  #checkInformers(): void {
    for (const { kind, synced, health } of this.#informers.health()) {
      if (health.state === 'down') throw new Error(`the watch of ${kind.plural} is down: ${health.error.message}`)
      if (!synced) throw new Error(`the cache of ${kind.plural} is not filled yet`)
    }
  }
}

function electorOf(
  options: ManagerOptions,
  around: Pick<ManagerContext, 'api' | 'clock' | 'random' | 'log' | 'metrics'>,
  namespace: string,
): LeaderElector | undefined {
  const settings = settingsOf(options)
  if (!settings) return undefined
  const { whenLost: _, identity, ...election } = settings
  return new LeaderElector({
    ...election,
    ...around,
    namespace: settings.namespace ?? namespace,
    ...(identity !== undefined && { identity }),
  })
}

function settingsOf({ leaderElection }: ManagerOptions): LeaderElectionSettings | undefined {
  return typeof leaderElection === 'string' ? { name: leaderElection } : leaderElection
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function leadershipLost(): TenureError {
  return new TenureError(
    'TENURE_LEADERSHIP_LOST',
    'Leadership was lost because the lease could not be renewed in time; everything was stopped. Start the process again.',
    { fate: 'retry' },
  )
}
