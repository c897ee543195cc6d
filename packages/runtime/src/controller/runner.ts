import { type Clock, jitter, keyOf, type KubeApi, type Random, type Timer } from '@tenure/kube'
import { AppliedRecords } from '../actions/applied-records.ts'
import { Executor } from '../actions/executor.ts'
import type { Recorder, StepHook } from '../actions/index.ts'
import { NameConflicts } from '../actions/name-conflicts.ts'
import { StatusEchoes } from '../actions/status-echoes.ts'
import { DueTimes } from '../expiry/due-times.ts'
import type { Informers } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { PRIORITY } from '../queue/index.ts'
import { WorkerGroup } from '../queue/worker-group.ts'
import type { Tracer } from '../tracing/tracing.ts'
import { type ControllerInstruments, controllerInstruments } from './controller-metrics.ts'
import { DeclaredKinds } from './declared-kinds.ts'
import type { ControllerDefinition } from './definition.ts'
import { DynamicKinds } from './dynamic-kinds.ts'
import { Expirer } from './expirer.ts'
import type { ReconcileAttempt, ReconcilerContext } from './reconcile.ts'
import { Reconciler } from './reconciler.ts'
import { ResultHandler } from './result-handler.ts'
import { Subscriptions } from './sources.ts'

const DEFAULT_CONCURRENCY = 4
const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_GRACE_MS = 30_000

export interface ControllerRunnerOptions {
  readonly api: KubeApi
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** The field manager of its writes. Informers must keep that manager's managedFields. */
  readonly fieldManager: string
  /** Default: Events are dropped. */
  readonly recorder?: Recorder | undefined
  /** Default: no spans. */
  readonly tracer?: Tracer | undefined
  /** For tests: called at every step, and may throw or wait there. Default: none. */
  readonly onStep?: StepHook | undefined
}

export interface StopOptions {
  /** Milliseconds that running reconciles get to end before they are aborted. Default 30,000. */
  readonly grace?: number
}

/** Runs a controller: events in, keys through the queue, plans carried out. */
export class ControllerRunner {
  readonly name: string
  readonly #definition: ControllerDefinition
  readonly #options: ControllerRunnerOptions
  readonly #group: WorkerGroup
  readonly #instruments: ControllerInstruments
  readonly #records: AppliedRecords
  readonly #nameConflicts = new NameConflicts()
  readonly #statusEchoes = new StatusEchoes()
  readonly #requeues: DueTimes
  readonly #expirer: Expirer | undefined
  readonly #dynamicKinds: DynamicKinds | undefined
  readonly #kinds: DeclaredKinds
  readonly #reconciler: Reconciler
  readonly #results: ResultHandler
  #subscriptions: Subscriptions | undefined
  #resync: Timer | undefined
  #started: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(definition: ControllerDefinition, options: ControllerRunnerOptions) {
    const { api, clock, fieldManager, informers, metrics, onStep, random, recorder } = options
    const { backoff, concurrency = DEFAULT_CONCURRENCY, name } = definition
    this.name = name
    this.#definition = definition
    this.#options = options
    this.#group = new WorkerGroup({ name, clock, metrics, concurrency, backoff, work: (key) => this.#work(key) })
    const { queue } = this.#group
    const enqueue = (key: string): void => queue.add(key, PRIORITY.normal)
    this.#instruments = controllerInstruments(metrics, name, concurrency, () => this.#group.active)
    const kinds = new DeclaredKinds(definition, informers)
    this.#kinds = kinds
    this.#records = new AppliedRecords(fieldManager)
    this.#requeues = new DueTimes({
      clock,
      onDue: (key) => {
        this.#requeues.delete(key)
        enqueue(key)
      },
    })
    const context: ReconcilerContext = {
      controller: name,
      kind: definition.kind,
      api,
      clock,
      random,
      log: options.log,
      kinds,
      timeout: definition.reconcileTimeout ?? DEFAULT_TIMEOUT_MS,
      stopping: this.#group.stopping,
      failuresOf: (key) => queue.failures(key),
      executor: new Executor({
        controller: name,
        api,
        clock,
        fieldManager,
        records: this.#records,
        nameConflicts: this.#nameConflicts,
        statusEchoes: this.#statusEchoes,
        recorder: definition.recorder ?? recorder,
        onStep,
        declared: (kind) => kinds.find(kind),
        onMissedChange: enqueue,
      }),
    }
    const { expiresAt, ownedKinds } = definition
    this.#expirer = expiresAt && new Expirer({ ...definition, expiresAt }, context, enqueue)
    this.#dynamicKinds =
      ownedKinds &&
      new DynamicKinds({
        kind: definition.kind,
        named: ownedKinds,
        kinds,
        stopping: this.#group.stopping,
        onAdded: (source) => this.#subscriptions?.add(source),
        onSynced: enqueue,
      })
    this.#reconciler = new Reconciler(definition, context, {
      expirer: this.#expirer,
      dynamicKinds: this.#dynamicKinds,
    })
    this.#results = new ResultHandler(context, queue, this.#instruments, {
      requeueAt: (key, at) => this.#requeues.set(key, at),
      retryTerminal: definition.retryTerminal ?? false,
      onReconciled: definition.onReconciled,
    })
  }

  /** True if no key is ready and none is being reconciled. Keys that wait for their time do not count. */
  get isIdle(): boolean {
    return this.#group.isIdle
  }

  /** Reconciles that wait for something. */
  get active(): number {
    return this.#group.active
  }

  /** Objects that have an expiry. */
  get expiring(): number {
    return this.#expirer?.size ?? 0
  }

  /** When the next object expires, in milliseconds since 1970; undefined if none does. */
  get nextExpiry(): number | undefined {
    return this.#expirer?.next
  }

  /** Reconciles an object although nothing changed, after `after` milliseconds. Default: now. */
  enqueue(key: string, after = 0): void {
    this.#group.queue.add(key, PRIORITY.normal, after)
  }

  /** Reconciles an object although nothing changed, at a time in milliseconds since 1970, unless it is reconciled before. */
  enqueueAt(key: string, at: number): void {
    this.#requeues.set(key, at)
  }

  /** Takes note of an object whose expiry changed for a reason that is not in the object. */
  observeExpiry(key: string): void {
    const object = this.#kinds.primary.cache.getByKey(key)
    if (object) this.#expirer?.observe(key, object)
  }

  /** Begins as soon as the caches are filled; resolves then. Rejects if `signal` aborts, or it is stopped, before. */
  start(signal?: AbortSignal): Promise<void> {
    this.#started ??= this.#start(signal)
    return this.#started
  }

  /** Takes no new key, lets running reconciles end, and aborts them after a grace period. Never rejects. */
  stop(options: StopOptions = {}): Promise<void> {
    this.#stopped ??= this.#stop(options.grace ?? DEFAULT_GRACE_MS)
    return this.#stopped
  }

  async #start(signal?: AbortSignal): Promise<void> {
    const { queue, stopping } = this.#group
    const until = signal ? AbortSignal.any([signal, stopping]) : stopping
    await Promise.all(this.#kinds.sources.map(({ informer }) => informer.whenSynced(until)))
    until.throwIfAborted()
    if (queue.isShutDown) return
    this.#subscriptions = new Subscriptions({
      definition: this.#definition,
      kinds: this.#kinds,
      queue,
      records: this.#records,
      nameConflicts: this.#nameConflicts,
      statusEchoes: this.#statusEchoes,
      expirer: this.#expirer,
      onDeleted: (key) => {
        this.#requeues.delete(key)
        this.#dynamicKinds?.forget(key)
        this.#reconciler.noteDeleted(key)
      },
    })
    this.#group.start()
    this.#requeues.start()
    this.#expirer?.start()
    this.#scheduleResync()
    this.#options.log.info('controller started', { controller: this.name })
  }

  #work(key: string): Promise<void> | undefined {
    this.#requeues.delete(key)
    const attempt = this.#reconciler.begin(key, this.#options.clock.monotonic())
    try {
      const { tracer } = this.#options
      const running = tracer
        ? tracer.span('Reconcile', { controller: this.name, key }, () => this.#reconciler.run(attempt))
        : this.#reconciler.run(attempt)
      if (running !== undefined) return this.#settle(attempt, running)
      this.#results.succeeded(attempt)
    } catch (error) {
      this.#results.failed(attempt, error)
    }
    attempt.end()
    return undefined
  }

  async #settle(attempt: ReconcileAttempt, running: Promise<void>): Promise<void> {
    try {
      await running
      this.#results.succeeded(attempt)
    } catch (error) {
      this.#results.failed(attempt, error)
    }
    attempt.end()
  }

  #scheduleResync(): void {
    const { queue } = this.#group
    const { resync } = this.#definition
    if (resync === undefined || queue.isShutDown) return
    // Jittered, so that controllers that started in the same moment do not resync together.
    this.#resync = this.#options.clock.setTimer(jitter(this.#options.random, resync, 0.1), () => {
      for (const { metadata } of this.#kinds.primary.cache.list()) queue.add(keyOf(metadata), PRIORITY.low)
      this.#scheduleResync()
    })
  }

  async #stop(grace: number): Promise<void> {
    const { log } = this.#options
    this.#subscriptions?.end()
    this.#resync?.cancel()
    this.#requeues.stop()
    this.#expirer?.stop()
    if (!(await this.#group.stop(grace))) {
      const { running } = this.#group.queue
      log.error('controller stopped with reconciles that ignore their signal', { controller: this.name, running })
    }
    this.#instruments.close()
    log.info('controller stopped', { controller: this.name })
  }
}
