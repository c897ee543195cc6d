import { ApiError, asError, type Clock, fateOf } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { isExpectedRace } from './expected-race.ts'
import { type Backoff, PRIORITY } from './work-queue.ts'
import { WorkerGroup } from './worker-group.ts'

const DEFAULT_CONCURRENCY = 8
const DEFAULT_BACKOFF: Backoff = { base: 50, max: 30_000 }

/** Repeats a key although its work succeeded. */
export interface Requeue {
  /** Milliseconds from now. */
  readonly requeueAfter: number
}

export interface WorkContext {
  /** Aborts when the worker stops and its grace period is over. Pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Consecutive failures of this key. */
  readonly failures: number
}

export interface QueueWorkerOptions {
  /** Names the worker in logs and metrics. */
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined
  /** Maximum number of keys processed at once; one key never twice. Default 8. */
  readonly concurrency?: number | undefined
  /** Delays between retries of one key. Default: 50 ms, doubling, up to 30 s. */
  readonly backoff?: Backoff | undefined
  /** Processes one key. A rejection is retried with backoff. */
  readonly work: (key: string, context: WorkContext) => Promise<Requeue | void>
}

export interface QueueAddOptions {
  /** Delay in milliseconds. Default 0. */
  readonly after?: number
  /** Default `PRIORITY.normal`. */
  readonly priority?: number
}

/**
 * Processes keys that do not belong to a controller's objects: a database row, a pool, objects of many kinds. It has
 * the same queue, workers, backoff, metrics and shutdown as a controller. It is a component, so an operator can return
 * it.
 */
export class QueueWorker {
  readonly name: string
  readonly #options: QueueWorkerOptions
  readonly #group: WorkerGroup
  /** The last failure of each failing key that was logged: a repetition is logged at debug level. */
  readonly #reported = new Map<string, string>()

  constructor(options: QueueWorkerOptions) {
    const { backoff = DEFAULT_BACKOFF, clock, concurrency = DEFAULT_CONCURRENCY, metrics, name } = options
    this.name = name
    this.#options = options
    this.#group = new WorkerGroup({ name, clock, metrics, concurrency, backoff, work: (key) => this.#work(key) })
  }

  /** True if no key is ready or running. Delayed keys do not count. */
  get isIdle(): boolean {
    return this.#group.isIdle
  }

  /** Queues a key. A queued key is not added twice. */
  add(key: string, { after = 0, priority = PRIORITY.normal }: QueueAddOptions = {}): void {
    this.#group.queue.add(key, priority, after)
  }

  /** Resets the failures of a key. */
  forget(key: string): void {
    this.#group.queue.forget(key)
    this.#reported.delete(key)
  }

  start(): Promise<void> {
    this.#group.start()
    return Promise.resolve()
  }

  /** Stops accepting keys, waits `grace` milliseconds for running work, then aborts it. Never rejects. */
  async stop(grace: number): Promise<void> {
    if (await this.#group.stop(grace)) return
    const { running } = this.#group.queue
    this.#options.log.error('worker stopped with work that ignores its signal', { worker: this.name, running })
  }

  async #work(key: string): Promise<void> {
    const { queue, stopping } = this.#group
    try {
      const result = await this.#options.work(key, {
        signal: stopping,
        log: this.#options.log,
        failures: queue.failures(key),
      })
      queue.forget(key)
      this.#reported.delete(key)
      if (result) queue.add(key, PRIORITY.normal, result.requeueAfter)
    } catch (error) {
      this.#failed(key, asError(error))
    }
  }

  #failed(key: string, error: Error): void {
    const { queue, stopping } = this.#group
    if (stopping.aborted) return
    const failures = queue.failures(key) + 1
    queue.retry(key, queue.priority(key), error instanceof ApiError ? error.retryAfter : 0)
    const isReported = this.#reported.get(key) === error.message
    const isQuiet = isReported || isExpectedRace(error, failures)
    if (!isQuiet) this.#reported.set(key, error.message)
    const level = isQuiet ? 'debug' : fateOf(error) === 'bug' ? 'error' : 'warn'
    this.#options.log[level]('work failed, retrying', { worker: this.name, key, failures, error })
  }
}
