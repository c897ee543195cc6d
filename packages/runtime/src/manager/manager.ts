import { Client, type Clock, type Random, systemClock, systemRandom, TenureError } from '@tenure/kube'
import { defaultValues } from '../configuration/index.ts'
import { Discovery } from '../discovery/index.ts'
import { defaultIdentity } from '../election/options.ts'
import { Probes } from '../health/index.ts'
import { SharedInformers } from '../informer/index.ts'
import { type Logger, silentLogger } from '../log/logger.ts'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import type { ConfiguredOperator, Operator } from '../operator/index.ts'
import type { Component, ManagerContext } from './component.ts'
import { connect, type Connection } from './connection.ts'
import { nameOf, OperatorRunner } from './operator-runner.ts'
import type { RunOperatorsOptions } from './options.ts'
import { metricsComponent, probesComponent } from './servers.ts'
import { stopSignals } from './signals.ts'
import { StartedComponents } from './stages.ts'

const DEFAULT_GRACE_MS = 30_000
/** Maximum milliseconds to write Events when the manager stops. */
const MAX_RECORDER_GRACE_MS = 5_000

/**
 * Runs operators and serves everything that they return: controllers, components, webhooks, routes, probes. Probes and
 * servers start first, then webhooks, then definitions and caches, then everything that follows the leader; all stop in reverse order.
 *
 * Runs until `signal` aborts or, without one, until SIGINT, SIGTERM or SIGHUP; resolves after a clean stop. Rejects if a
 * part fails to start.
 */
export async function runOperators(options: RunOperatorsOptions, signal?: AbortSignal): Promise<void> {
  const log = options.log ?? silentLogger
  const signals = signal ? undefined : stopSignals({ log })
  const stop = signal ?? signals?.signal ?? new AbortController().signal
  let connection: Connection | undefined
  try {
    const metrics = options.metrics ?? (options.metricsAddress ? await defaultMetrics() : noMetrics)
    connection = await connect(options, metrics)
    await new Manager(options, { connection, metrics, log }).run(stop)
  } finally {
    await connection?.close()
    signals?.dispose()
  }
}

async function defaultMetrics(): Promise<Metrics> {
  const { createMetrics } = await import('../metrics/prometheus.ts')
  return createMetrics()
}

interface ManagerParts {
  readonly connection: Connection
  readonly metrics: Metrics
  readonly log: Logger
}

/** One run of operators in one process. */
class Manager {
  readonly #options: RunOperatorsOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #informers: SharedInformers
  readonly #context: ManagerContext
  readonly #operators: readonly OperatorRunner[]

  constructor(options: RunOperatorsOptions, { connection, metrics, log }: ManagerParts) {
    const clock = options.clock ?? systemClock
    const random: Random = options.random ?? systemRandom
    const { namespace, transport } = connection
    const operators = options.operators.map(configured)
    const api = new Client({ clock, random, fieldManager: 'tenure', defaultNamespace: namespace, transport })
    this.#options = options
    this.#clock = clock
    this.#log = log
    this.#informers = new SharedInformers({
      api,
      clock,
      random,
      log,
      metrics,
      keepManagedFieldsOf: operators.map(({ operator }) => nameOf(operator)),
      ...(options.freeze !== undefined && { freeze: options.freeze }),
    })
    this.#context = {
      api,
      informers: this.#informers,
      discovery: new Discovery(api.requester, clock),
      probes: new Probes({ clock }),
      metrics,
      log,
      clock,
      random,
      namespace,
    }
    const processIdentity = options.identity ?? defaultIdentity(random)
    const shared = { context: this.#context, informers: this.#informers, transport, processIdentity, options }
    this.#operators = operators.map((operator) => new OperatorRunner(operator, shared))
  }

  async run(stop: AbortSignal): Promise<void> {
    const log = this.#log
    const started = new StartedComponents(this.#clock, log)
    const grace = this.#options.gracePeriod ?? DEFAULT_GRACE_MS
    let isLost = false
    try {
      this.#context.probes.add('ready', 'informers', () => this.#checkInformers())
      await started.start([...this.#servers(), ...this.#operators.flatMap((each) => each.components('serve'))], stop)
      await started.start(
        this.#operators.flatMap((each) => each.webhooks()),
        stop,
      )
      const { webhooks } = this.#options
      if (typeof webhooks === 'object') webhooks.complete()
      await started.start(
        this.#operators.flatMap((each) => each.definitions()),
        stop,
      )
      await started.start([this.#caches()], stop)
      await started.start(
        this.#operators.flatMap((each) => each.components('work')),
        stop,
      )
      log.info('manager started')
      void this.#reportReady()
      isLost = await this.#lead(stop, grace)
    } catch (error) {
      // An abort during the start is a clean stop.
      if (!stop.aborted) throw error
    } finally {
      await started.stop(isLost ? 0 : grace)
      log.info('manager stopped')
    }
    if (isLost) throw leadershipLost()
  }

  async #reportReady(): Promise<void> {
    const standing = this.#operators.map(async (each) => [each.operator.name, await each.standing] as const)
    this.#options.onReady?.(Object.fromEntries(await Promise.all(standing)))
  }

  /** Every operator leads or campaigns on its own; the first one that fails, or loses its lease for good, ends all. */
  async #lead(stop: AbortSignal, grace: number): Promise<boolean> {
    const ended = new AbortController()
    const until = AbortSignal.any([stop, ended.signal])
    const runs = this.#operators.map(async (operator) => {
      try {
        return await operator.lead(until, grace)
      } finally {
        ended.abort()
      }
    })
    const results = await Promise.allSettled(runs)
    for (const result of results) if (result.status === 'rejected') throw result.reason as Error
    return results.some((result) => result.status === 'fulfilled' && result.value)
  }

  #servers(): readonly Component[] {
    const { probes, metricsAddress, addressSettings = {}, servers = [] } = this.#options
    return [
      ...(probes === undefined ? [] : [probesComponent(probes, this.#context, addressSettings.probes)]),
      ...(metricsAddress === undefined
        ? []
        : [metricsComponent(metricsAddress, this.#context, addressSettings.metrics)]),
      ...servers.map((server) => server.create(this.#operators, this.#context)),
    ]
  }

  #caches(): Component {
    const ended = new AbortController()
    const informers = this.#operators.flatMap(({ caches }) => caches)
    return {
      name: 'caches',
      start: async (signal) => {
        this.#informers.start(ended.signal)
        await Promise.all(informers.map((informer) => informer.whenSynced(signal)))
      },
      stop: async (grace) => {
        const recorderGrace = Math.min(grace, MAX_RECORDER_GRACE_MS)
        await Promise.all(this.#operators.map((operator) => operator.closeRecorder(recorderGrace)))
        ended.abort(new Error('the manager is stopping'))
        await this.#informers.whenStopped()
      },
    }
  }

  #checkInformers(): void {
    for (const { kind, optional, synced, health } of this.#informers.health()) {
      if (optional && !synced) continue
      if (health.state === 'down') throw new Error(`the watch of ${kind.plural} is down: ${health.error.message}`)
      if (!synced) throw new Error(`the cache of ${kind.plural} is not filled yet`)
    }
  }
}

function configured(operator: Operator | ConfiguredOperator): ConfiguredOperator {
  return 'operator' in operator ? operator : { operator, settings: defaultValues(operator.config) }
}

function leadershipLost(): TenureError {
  return new TenureError(
    'TENURE_LEADERSHIP_LOST',
    'Leadership was lost because the lease was not renewed in time, and everything was stopped. Start the process again.',
    { fate: 'retry' },
  )
}
