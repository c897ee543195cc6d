import { type Clock, sleep, TenureError } from '@tenure/kube'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { type Backoff, WorkQueue } from './work-queue.ts'
import { WorkerPool } from './worker-pool.ts'

/** Milliseconds that aborted work gets to end. */
const ABORT_GRACE_MS = 5_000

export interface WorkerGroupOptions {
  readonly name: string
  readonly clock: Clock
  readonly metrics?: Metrics | undefined
  readonly concurrency: number
  readonly backoff?: Backoff | undefined
  /** Processes a key. Must not throw or reject; returns no promise if there is nothing to wait for. */
  readonly work: (key: string) => Promise<void> | undefined
}

/** A queue, its workers and their shutdown: shared by controllers and queue workers. */
export class WorkerGroup {
  readonly queue: WorkQueue
  readonly #options: WorkerGroupOptions
  readonly #pool: WorkerPool
  readonly #stopping = new AbortController()

  constructor(options: WorkerGroupOptions) {
    const { backoff, clock, concurrency, metrics = noMetrics, name, work } = options
    this.#options = options
    this.queue = new WorkQueue({
      clock,
      metrics,
      name,
      backoff,
      workers: concurrency,
      onReady: () => this.#pool.notify(),
    })
    this.#pool = new WorkerPool({ queue: this.queue, clock, concurrency, work })
  }

  /** Number of keys whose work is waiting for something. */
  get active(): number {
    return this.#pool.active
  }

  /** True if no key is ready or running. Delayed keys do not count. */
  get isIdle(): boolean {
    return this.queue.depth === 0 && this.queue.running === 0
  }

  /** Aborts when the group stops and its grace period is over. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  start(): void {
    this.#pool.start()
  }

  /**
   * Starts no more work, waits `grace` milliseconds for running work, then aborts it. False: some work ignores its
   * signal.
   */
  async stop(grace: number): Promise<boolean> {
    const { clock, name } = this.#options
    this.#pool.stop()
    this.queue.shutDown()
    // Without a grace period the abort happens in this call: a process that lost its lease must not write any more.
    const isDrained = this.queue.running === 0 || (grace > 0 && (await within(clock, grace, this.queue.drained())))
    this.#stopping.abort(new TenureError('TENURE_CONTROLLER_STOPPED', `${name} is stopping.`, { fate: 'retry' }))
    return isDrained || (await within(clock, ABORT_GRACE_MS, this.queue.drained()))
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
