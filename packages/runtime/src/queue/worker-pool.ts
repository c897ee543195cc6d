import type { Clock, Timer } from '@tenure/kube'
import type { WorkQueue } from './index.ts'

/** Milliseconds of work after which everything else in the process gets its turn. */
const SLICE = 10

export interface WorkerPoolOptions {
  readonly queue: WorkQueue
  readonly clock: Clock
  readonly concurrency: number
  /** Works on a key. Must not throw or reject; without anything to wait for it returns no promise. */
  readonly work: (key: string) => Promise<void> | undefined
}

/**
 * Takes keys off the queue, at most `concurrency` at once. There are no worker loops: work that ends without waiting
 * is followed by the next key at once, without a turn of the event loop or a promise. So as not to keep the process
 * from its sockets, a long run of such work is interrupted every 10 ms.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  #running = false
  #active = 0
  #isScheduled = false
  #isPumping = false
  /** Milliseconds of work since the process last got a turn. */
  #busy = 0
  #pause: Timer | undefined

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  /** Keys whose work is waiting for something. */
  get active(): number {
    return this.#active
  }

  start(): void {
    this.#running = true
    this.notify()
  }

  /** Starts nothing more. */
  stop(): void {
    this.#running = false
    this.#pause?.cancel()
    this.#pause = undefined
  }

  /** There is a key to take. Several in one go are seen together, so that their priorities count. */
  notify(): void {
    if (!this.#running || this.#isScheduled || this.#isPumping || this.#pause) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#isPumping || this.#pause) return
    const { clock, concurrency, queue, work } = this.#options
    this.#isPumping = true
    let last = clock.monotonic()
    while (this.#running && this.#active < concurrency) {
      const key = queue.tryGet()
      if (key === undefined) {
        if (this.#active === 0) this.#busy = 0
        break
      }
      const running = work(key)
      if (running === undefined) queue.done(key)
      else this.#await(key, running)
      const now = clock.monotonic()
      this.#busy += now - last
      last = now
      if (this.#busy >= SLICE) {
        this.#pause = clock.setTimer(0, () => {
          this.#pause = undefined
          this.#busy = 0
          this.#pump()
        })
        break
      }
    }
    this.#isPumping = false
  }

  #await(key: string, running: Promise<void>): void {
    this.#active++
    void running.then(() => this.#ended(key))
  }

  #ended(key: string): void {
    this.#active--
    this.#options.queue.done(key)
    this.#pump()
  }
}
