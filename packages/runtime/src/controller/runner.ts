import { type Clock, jitter, keyOf, type KubeApi, type Random, sleep, TenureError, type Timer } from '@tenure/kube'
import { AppliedRecords } from '../actions/applied-records.ts'
import { Executor } from '../actions/executor.ts'
import type { Recorder, StepHook } from '../actions/index.ts'
import { Obstacles } from '../actions/name-conflicts.ts'
import type { Informers } from '../informer/types.ts'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { PRIORITY, WorkQueue } from '../queue/index.ts'
import { type ControllerInstruments, controllerInstruments } from './controller-metrics.ts'
import { DeclaredKinds } from './declared-kinds.ts'
import type { ControllerDefinition } from './definition.ts'
import { Reconciler } from './reconciler.ts'
import { subscribe } from './sources.ts'
import type { Tracer } from '../tracing/tracing.ts'
import type { Attempt, TurnSurroundings } from './reconcile.ts'
import { Verdict } from './result-handler.ts'
import { WorkerPool } from '../queue/worker-pool.ts'

const DEFAULT_CONCURRENCY = 4
const DEFAULT_TIMEOUT = 60_000
const DEFAULT_GRACE = 30_000
/** Milliseconds that aborted work gets to notice. */
const ABORT_GRACE = 5_000

export interface ControllerRunnerOptions {
  readonly api: KubeApi
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** In whose name fields are owned. Informers must keep this manager's managedFields. */
  readonly fieldManager: string
  /** Default: events are dropped. */
  readonly recorder?: Recorder | undefined
  /** Default: no spans. */
  readonly tracer?: Tracer | undefined
  /** For tests: told of every step, and may throw or wait there. Default: nobody. */
  readonly onStep?: StepHook | undefined
}

export interface StopOptions {
  /** Milliseconds that running work gets to end by itself before it is aborted. Default 30,000. */
  readonly grace?: number
}

/** Runs a controller: events in, keys through the queue, plans carried out. */
export class ControllerRunner {
  readonly name: string
  readonly #definition: ControllerDefinition
  readonly #options: ControllerRunnerOptions
  readonly #queue: WorkQueue
  readonly #pool: WorkerPool
  readonly #instruments: ControllerInstruments
  readonly #records: AppliedRecords
  readonly #obstacles = new Obstacles()
  readonly #stopping = new AbortController()
  readonly #kinds: DeclaredKinds
  readonly #reconciler: Reconciler
  readonly #verdict: Verdict
  #unsubscribe: (() => void) | undefined
  #resync: Timer | undefined
  #started: Promise<void> | undefined
  #stopped: Promise<void> | undefined

  constructor(definition: ControllerDefinition, options: ControllerRunnerOptions) {
    const { api, clock, fieldManager, informers, metrics, onStep, random, recorder } = options
    const concurrency = definition.concurrency ?? DEFAULT_CONCURRENCY
    this.name = definition.name
    this.#definition = definition
    this.#options = options
    this.#queue = new WorkQueue({
      clock,
      metrics,
      name: definition.name,
      backoff: definition.backoff,
      onReady: () => this.#pool.notify(),
    })
    this.#pool = new WorkerPool({ queue: this.#queue, clock, concurrency, work: (key) => this.#work(key) })
    this.#instruments = controllerInstruments(metrics, definition.name, concurrency, () => this.#pool.active)
    const kinds = new DeclaredKinds(definition, informers)
    this.#kinds = kinds
    this.#records = new AppliedRecords(fieldManager)
    const around: TurnSurroundings = {
      controller: definition.name,
      kind: definition.kind,
      api,
      clock,
      random,
      log: options.log,
      kinds,
      timeout: definition.reconcileTimeout ?? DEFAULT_TIMEOUT,
      stopping: this.#stopping.signal,
      executor: new Executor({
        controller: definition.name,
        api,
        clock,
        fieldManager,
        records: this.#records,
        obstacles: this.#obstacles,
        recorder: definition.recorder ?? recorder,
        onStep,
        declared: (kind) => kinds.find(kind),
      }),
    }
    this.#reconciler = new Reconciler(definition, around)
    this.#verdict = new Verdict(around, this.#queue, this.#instruments, definition.onReconciled)
  }

  /** True if nothing is waiting to be done now and nothing is being done. What waits for its time does not count. */
  get isIdle(): boolean {
    return this.#queue.depth === 0 && this.#queue.running === 0
  }

  /** Looks at an object although nothing changed, `after` milliseconds. Default: now. */
  enqueue(key: string, after = 0): void {
    this.#queue.add(key, PRIORITY.normal, after)
  }

  /** Begins to work as soon as the caches are filled; resolves then. Rejects if `signal` aborts, or it is stopped, before. */
  start(signal?: AbortSignal): Promise<void> {
    this.#started ??= this.#start(signal)
    return this.#started
  }

  /** Takes nothing new, lets what runs end, and aborts it after a grace. Never rejects. */
  stop(options: StopOptions = {}): Promise<void> {
    this.#stopped ??= this.#stop(options.grace ?? DEFAULT_GRACE)
    return this.#stopped
  }

  async #start(signal?: AbortSignal): Promise<void> {
    const until = signal ? AbortSignal.any([signal, this.#stopping.signal]) : this.#stopping.signal
    await Promise.all(this.#kinds.sources.map(({ informer }) => informer.whenSynced(until)))
    until.throwIfAborted()
    if (this.#queue.isShutDown) return
    this.#unsubscribe = subscribe({
      definition: this.#definition,
      kinds: this.#kinds,
      queue: this.#queue,
      records: this.#records,
      obstacles: this.#obstacles,
      onDeleted: (key) => this.#reconciler.noteDeleted(key),
    })
    this.#pool.start()
    this.#scheduleResync()
    this.#options.log.info('controller started', { controller: this.name })
  }

  #work(key: string): Promise<void> | undefined {
    const attempt = this.#reconciler.begin(key, this.#options.clock.monotonic())
    try {
      const { tracer } = this.#options
      const running = tracer
        ? tracer.span('Reconcile', { controller: this.name, key }, () => this.#reconciler.run(attempt))
        : this.#reconciler.run(attempt)
      if (running !== undefined) return this.#settle(attempt, running)
      this.#verdict.succeeded(attempt)
    } catch (error) {
      this.#verdict.failed(attempt, error)
    }
    attempt.end()
    return undefined
  }

  async #settle(attempt: Attempt, running: Promise<void>): Promise<void> {
    try {
      await running
      this.#verdict.succeeded(attempt)
    } catch (error) {
      this.#verdict.failed(attempt, error)
    }
    attempt.end()
  }

  #scheduleResync(): void {
    const { resync } = this.#definition
    if (resync === undefined || this.#queue.isShutDown) return
    // Apart from those of other controllers, which may have started in the same moment.
    this.#resync = this.#options.clock.setTimer(jitter(this.#options.random, resync, 0.1), () => {
      for (const { metadata } of this.#kinds.primary.cache.list()) this.#queue.add(keyOf(metadata), PRIORITY.low)
      this.#scheduleResync()
    })
  }

  async #stop(grace: number): Promise<void> {
    const { clock, log } = this.#options
    this.#unsubscribe?.()
    this.#resync?.cancel()
    this.#pool.stop()
    this.#queue.shutDown()
    // Without a grace it is aborted in this very call: who lost the lead must not write any more.
    const isDrained = this.#queue.running === 0 || (grace > 0 && (await within(clock, grace, this.#queue.drained())))
    this.#stopping.abort(
      new TenureError('TENURE_CONTROLLER_STOPPED', `The controller ${this.name} is stopping.`, { fate: 'retry' }),
    )
    if (!isDrained && !(await within(clock, ABORT_GRACE, this.#queue.drained()))) {
      log.error('controller stopped with work that does not heed its signal', {
        controller: this.name,
        running: this.#queue.running,
      })
    }
    this.#instruments.close()
    log.info('controller stopped', { controller: this.name })
  }
}

/** True if `work` ended within `delay` milliseconds. */
async function within(clock: Clock, delay: number, work: Promise<void>): Promise<boolean> {
  const over = new AbortController()
  const done = work.then(() => true)
  const late = sleep(clock, delay, over.signal).then(
    () => false,
    () => true,
  )
  const result = await Promise.race([done, late])
  over.abort()
  return result
}
