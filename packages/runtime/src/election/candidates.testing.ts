import type { Clock, Timer, Transport, TransportRequest, TransportResponse } from '@tenure/kube'
import { Client, ConnectionError, abortReason, sleep } from '@tenure/kube'
import type { VirtualClock } from '@tenure/kube/testing'
import { seededRandom } from '@tenure/kube/testing'
import type { Metrics } from '../metrics/metrics.ts'
import type { MemoryApi } from '../testing/memory-api.ts'
import { LeaderElector } from './leader-elector.ts'
import type { LeaderElectorOptions } from './options.ts'

/** RequestFault injected into one request. */
export interface RequestFault {
  /** Milliseconds before the request reaches the server; it is carried out even if the client gave up. */
  readonly there?: number
  /** Milliseconds before the response reaches the client. */
  readonly back?: number
  /** The request never reaches the server. */
  readonly lost?: boolean
  /** The request is carried out, but the response is lost. */
  readonly answerLost?: boolean
}

/** A process with its own wall clock and its own connection, which can be suspended as by SIGSTOP. */
export class CandidateProcess implements Clock, Transport {
  readonly #base: VirtualClock
  readonly #api: MemoryApi
  readonly #queued: (() => void)[] = []
  #paused = false
  #dead = false
  wallOffset = 0
  /** Called for each request. */
  fault: (request: TransportRequest) => RequestFault = () => ({})

  constructor(base: VirtualClock, api: MemoryApi) {
    this.#base = base
    this.#api = api
  }

  get paused(): boolean {
    return this.#paused || this.#dead
  }

  now(): number {
    return this.#base.now() + this.wallOffset
  }

  monotonic(): number {
    return this.#base.monotonic()
  }

  setTimer(delay: number, callback: () => void): Timer {
    let cancelled = false
    const timer = this.#base.setTimer(delay, () => this.#deliver(() => cancelled || callback()))
    return {
      cancel: () => {
        cancelled = true
        timer.cancel()
      },
    }
  }

  pause(): void {
    this.#paused = true
  }

  /** Delivers everything that arrived during the suspension at once; `answersFirst` reverses the order. */
  resume(answersFirst = false): void {
    if (!this.#paused) return
    this.#paused = false
    const queued = this.#queued.splice(0)
    for (const callback of answersFirst ? queued.toReversed() : queued) this.#deliver(callback)
  }

  /** As by SIGKILL: nothing of it runs any more. */
  kill(): void {
    this.#dead = true
    this.#queued.length = 0
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener('abort', () => reject(abortReason(request.signal ?? AbortSignal.abort())), {
        once: true,
      })
      const { signal: _, ...detached } = request
      const carry = async (): Promise<void> => {
        const fault = this.fault(request)
        try {
          if (fault.there) await sleep(this.#base, fault.there)
          if (fault.lost) throw new ConnectionError('TENURE_CONNECTION_LOST', 'lost')
          const answer = await this.#api.request(detached)
          if (fault.back) await sleep(this.#base, fault.back)
          if (!fault.answerLost) this.#deliver(() => resolve(answer))
        } catch (error) {
          this.#deliver(() => reject(error))
        }
      }
      void carry()
    })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #deliver(callback: () => void): void {
    if (this.#dead) return
    if (this.#paused) this.#queued.push(callback)
    else callback()
  }
}

/** A candidate in its own process, with a record of its callbacks. */
export class Candidate {
  readonly process: CandidateProcess
  readonly elector: LeaderElector
  readonly events: string[] = []
  readonly #stop = new AbortController()
  term: AbortSignal | undefined
  outcome: 'stopped' | 'lost' | undefined
  /** Milliseconds that the work needs to end after its term. */
  windDown = 0

  constructor(
    base: VirtualClock,
    api: MemoryApi,
    identity: string,
    options: Partial<LeaderElectorOptions> & { readonly metrics?: Metrics } = {},
  ) {
    this.process = new CandidateProcess(base, api)
    const random = seededRandom(Buffer.from(identity).reduce((sum, byte) => sum * 31 + byte, 7))
    this.elector = new LeaderElector({
      api: new Client({ transport: this.process, clock: this.process, random }),
      clock: this.process,
      random,
      namespace: 'default',
      name: 'test',
      identity,
      ...options,
    })
  }

  /** Runs until stopped, term after term if `again`. */
  start(again = false): this {
    void (async () => {
      for (;;) {
        this.outcome = await this.elector.run(this.#stop.signal, {
          onStarted: async (term) => {
            this.events.push('started')
            this.term = term
            await new Promise<void>((resolve) => term.addEventListener('abort', () => resolve(), { once: true }))
            if (this.windDown) await sleep(this.process, this.windDown)
            this.events.push('wound down')
          },
          onStopped: (why) => this.events.push(why),
          onNewLeader: (identity) => this.events.push(`leader ${identity}`),
        })
        if (!again || this.#stop.signal.aborted) return
      }
    })()
    return this
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Computed from the clock alone: calling `isLeader()` would make a suspended process act. */
  get leads(): boolean {
    return (this.elector.leadsUntil ?? -Infinity) > this.process.monotonic()
  }
}
