import { asError, type Clock, fateOf, isConflict, isNotFound, sleep } from '@tenure/kube'
import { type Component, type Informer, type Logger, type Metrics, WorkQueue } from '@tenure/runtime'
import type { KubeObject } from '@tenure/kube'

export interface KeyedWorkerOptions {
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Keys worked on at once. Default 8. */
  readonly concurrency?: number
  /** Milliseconds of the first and the longest wait before a retry. Default 50 and 30,000. */
  readonly backoff?: { readonly base: number; readonly max: number }
  /** Filled before work begins. Default none. */
  readonly informers?: readonly Informer<KubeObject>[]
  /** Called when they are: subscribes to events, and gives what ends that. */
  readonly begin?: () => (() => void) | void
  /** Handles a key. A returned number requeues it after that many milliseconds. */
  work(key: string, signal: AbortSignal): Promise<number | undefined | void>
}

/**
 * Keys through a queue, for controllers that `controller(Kind, …)` does not fit: those of many kinds at once, and
 * those whose work is with objects that are being deleted.
 */
export class KeyedWorker implements Component {
  readonly name: string
  readonly #options: KeyedWorkerOptions
  readonly #queue: WorkQueue
  readonly #abort = new AbortController()
  #end: (() => void) | void = undefined

  constructor(options: KeyedWorkerOptions) {
    this.name = options.name
    this.#options = options
    const { clock, metrics, name, backoff = { base: 50, max: 30_000 } } = options
    this.#queue = new WorkQueue({ clock, metrics, name, backoff })
  }

  /** True if nothing waits to be done now and nothing is being done. */
  get isIdle(): boolean {
    return this.#queue.depth === 0 && this.#queue.running === 0
  }

  add(key: string, after = 0): void {
    this.#queue.add(key, 0, after)
  }

  async start(signal: AbortSignal): Promise<void> {
    await Promise.all((this.#options.informers ?? []).map((informer) => informer.whenSynced(signal)))
    this.#end = this.#options.begin?.()
    for (let index = 0; index < (this.#options.concurrency ?? 8); index++) void this.#loop()
  }

  async stop(grace: number): Promise<void> {
    this.#end?.()
    this.#queue.shutDown()
    if (grace > 0 && this.#queue.running > 0) {
      const over = new AbortController()
      const late = sleep(this.#options.clock, grace, over.signal).catch(() => undefined)
      await Promise.race([this.#queue.drained(), late])
      over.abort()
    }
    this.#abort.abort(new Error(`${this.name} stops`))
  }

  /** Never rejects. */
  async #loop(): Promise<void> {
    for (;;) {
      const key = await this.#queue.get()
      if (key === undefined) return
      try {
        const after = await this.#options.work(key, this.#abort.signal)
        this.#queue.forget(key)
        if (after !== undefined) this.#queue.add(key, 0, after)
      } catch (error) {
        this.#failed(key, error)
      }
      this.#queue.done(key)
    }
  }

  #failed(key: string, thrown: unknown): void {
    if (this.#abort.signal.aborted) return
    const error = asError(thrown)
    this.#queue.retry(key)
    if (isConflict(error) || isNotFound(error)) return
    const level = fateOf(error) === 'bug' ? 'error' : 'warn'
    this.#options.log[level]('work failed, retrying', { controller: this.name, key, error })
  }
}
