import type { Clock, Random, Timer } from '@tenure/kube'
import { TenureError, abortReason, asError, sleep, withTimeout } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Gauge } from '../metrics/metrics.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { LeaseLock } from './lease-lock.ts'
import type { LeaseSpec } from './lease.ts'
import type { LeaderElectorOptions, Timing } from './options.ts'
import { defaultIdentity, timingOf } from './options.ts'

export interface LeaderCallbacks {
  /**
   * We lead. `term` aborts when that is over: at once if the lease is lost, and on a clean stop. Return a promise that
   * settles when all work has stopped: on a clean stop the lease is kept until then, so that the next leader never
   * meets it. If it rejects, the term ends and `run` rejects with the same.
   */
  onStarted(term: AbortSignal): Promise<void> | void
  /** The term is over. `lost`: called in the turn in which `term` aborts. `stopped`: called when the work has ended. */
  onStopped?(why: 'stopped' | 'lost'): void
  /** Another candidate, or we, were seen to lead. */
  onNewLeader?(identity: string): void
}

/** What is known of the election, for `/leader`. */
export interface LeaderInfo {
  readonly identity: string
  readonly isLeader: boolean
  /** Who the Lease named when we last looked; undefined if nobody. It may have died since. */
  readonly holder: string | undefined
  readonly lease: LeaseSpec | undefined
  /** Why the last try failed, undefined if it did not. */
  readonly error: Error | undefined
}

interface Term {
  /** What the work sees. */
  readonly controller: AbortController
  /** Ends the renewals: the work has ended, or the lease is lost. */
  readonly over: AbortController
  /** Monotonic: up to here, and not longer, nobody else can lead. */
  deadline: number
  watchdog: Timer | undefined
}

/**
 * Leader election on a coordination.k8s.io Lease, in the way of client-go and together with it. Only the monotonic
 * clock decides. A follower waits the lease's duration from when it *saw* the last renewal, which is after the leader
 * *began* it; the leader counts its shorter deadline from that beginning. So the two never overlap, whatever the wall
 * clocks say and however long requests take.
 */
export class LeaderElector {
  readonly identity: string
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #lease: string
  readonly #lock: LeaseLock
  readonly #timing: Timing
  readonly #releaseOnStop: boolean
  readonly #status: Gauge
  #callbacks: LeaderCallbacks | undefined
  #error: Error | undefined
  #term: Term | undefined
  #running = false

  constructor(options: LeaderElectorOptions) {
    this.#timing = timingOf(options)
    this.#clock = options.clock
    this.#random = options.random
    this.identity = options.identity ?? defaultIdentity(options.random)
    this.#lease = `${options.namespace}/${options.name}`
    this.#releaseOnStop = options.releaseOnStop ?? true
    this.#log = (options.log ?? silentLogger).child({ lease: this.#lease, identity: this.identity })
    const metrics = options.metrics ?? noMetrics
    this.#status = metrics
      .gauge({ name: 'leader_election_master_status', help: 'Whether this process leads: 1 or 0.', labels: ['name'] })
      .with({ name: options.name })
    this.#status.set(0)
    const slowPath = metrics
      .counter({
        name: 'leader_election_slowpath_total',
        help: 'Renewals that could not be written at once and had to read the Lease first.',
        labels: ['name'],
      })
      .with({ name: options.name })
    this.#lock = new LeaseLock({
      api: options.api,
      clock: options.clock,
      ref: { namespace: options.namespace, name: options.name },
      identity: this.identity,
      leaseDuration: this.#timing.leaseDuration,
      onSlowPath: (error) => {
        slowPath.inc()
        this.#log.debug('renewal at once failed, reading the lease', { error: asError(error) })
      },
      onHolder: (holder) => {
        this.#log.info('new leader', { leader: holder })
        this.#tell(() => this.#callbacks?.onNewLeader?.(holder))
      },
    })
  }

  /**
   * Whether we lead, now. The monotonic clock is asked at each call, so the answer is right also as the first thing a
   * process does after it was suspended. Ask before each step that only a leader may take; `fenced` does so for every
   * write of a transport. True on a clean stop until the work has ended.
   */
  isLeader(): boolean {
    const term = this.#term
    if (!term) return false
    if (this.#clock.monotonic() < term.deadline) return true
    this.#endTerm(term, 'lost')
    return false
  }

  /** Until when, on the monotonic clock, nobody else can lead; undefined if we do not lead. */
  get leadsUntil(): number | undefined {
    return this.#term?.deadline
  }

  leader(): LeaderInfo {
    const isLeader = this.isLeader()
    const { holder, spec: lease } = this.#lock
    return { identity: this.identity, isLeader, holder, lease, error: this.#error }
  }

  /**
   * Stands as a candidate until `signal` aborts, for one term at most: resolves with `stopped` after a clean stop, or
   * with `lost` when leadership was lost, each after the work has ended. To stand again, run again. While the API is
   * away it keeps trying.
   */
  async run(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<'stopped' | 'lost'> {
    if (this.#running) {
      throw new TenureError('TENURE_ELECTION_RUNNING', 'This elector already runs; run it once at a time.', {
        fate: 'bug',
      })
    }
    this.#running = true
    this.#callbacks = callbacks
    try {
      const term = await this.#acquire(signal)
      return term ? await this.#lead(term, signal, callbacks) : 'stopped'
    } finally {
      this.#callbacks = undefined
      this.#running = false
    }
  }

  async #acquire(signal: AbortSignal): Promise<Term | undefined> {
    this.#log.info('waiting to become leader')
    while (!signal.aborted) {
      const began = this.#clock.monotonic()
      const won = await this.#try(signal, this.#timing.requestTimeout)
      if (signal.aborted) {
        // What was won, or may have been, in the moment of the stop is given back.
        await this.#release()
        break
      }
      // An answer that took longer than a term could last is no use; the next try will find our own name.
      if (won && this.#clock.monotonic() < began + this.#timing.renewDeadline) return this.#beginTerm(began)
      await this.#pause(this.#untilNextTry(), signal)
    }
    return undefined
  }

  async #lead(term: Term, signal: AbortSignal, callbacks: LeaderCallbacks): Promise<'stopped' | 'lost'> {
    const { controller } = term
    const onStop = (): void => controller.abort(abortReason(signal))
    signal.addEventListener('abort', onStop, { once: true })
    let failure: { readonly error: unknown } | undefined
    const work = (async () => {
      try {
        await callbacks.onStarted(controller.signal)
        // Work that gives no promise to wait for lasts until its term ends.
        await aborted(controller.signal)
      } catch (error) {
        failure = { error }
      } finally {
        term.over.abort()
      }
    })()
    await this.#renew(term)
    signal.removeEventListener('abort', onStop)
    const held = this.isLeader()
    if (held) this.#endTerm(term, 'stopped')
    await work
    if (held) await this.#release()
    if (failure) throw asError(failure.error)
    return held ? 'stopped' : 'lost'
  }

  /** Renews until the work has ended or the lease is lost. */
  async #renew(term: Term): Promise<void> {
    const over = term.over.signal
    let wait = this.#timing.retryPeriod
    for (;;) {
      await this.#pause(wait, over)
      if (over.aborted || !this.isLeader()) return
      const began = this.#clock.monotonic()
      const renewed = await this.#try(over, Math.min(this.#timing.requestTimeout, term.deadline - began))
      if (over.aborted || !this.isLeader()) return
      if (renewed) {
        this.#extend(term, began)
      } else if (this.#lock.holder !== this.identity) {
        // Somebody took or broke our lease: that is over, whatever time would be left.
        this.#endTerm(term, 'lost')
        return
      }
      wait = renewed ? this.#timing.retryPeriod : this.#sooner(this.#timing.retryPeriod / 2)
    }
  }

  #beginTerm(began: number): Term {
    const term: Term = {
      controller: new AbortController(),
      over: new AbortController(),
      deadline: began,
      watchdog: undefined,
    }
    this.#term = term
    this.#extend(term, began)
    this.#status.set(1)
    this.#log.info('became leader')
    return term
  }

  #extend(term: Term, began: number): void {
    term.deadline = began + this.#timing.renewDeadline
    term.watchdog?.cancel()
    term.watchdog = this.#clock.setTimer(term.deadline - this.#clock.monotonic(), () => void this.isLeader())
  }

  #endTerm(term: Term, why: 'stopped' | 'lost'): void {
    if (this.#term !== term) return
    this.#term = undefined
    term.watchdog?.cancel()
    this.#status.set(0)
    const reason = this.#whyOver(why)
    if (why === 'lost') this.#log.error('lost leadership', { error: reason })
    else this.#log.info('gave up leadership')
    term.controller.abort(reason)
    term.over.abort()
    this.#tell(() => this.#callbacks?.onStopped?.(why))
  }

  #whyOver(why: 'stopped' | 'lost'): TenureError {
    if (why === 'stopped') return new TenureError('TENURE_ELECTION_STOPPED', `The term on ${this.#lease} has ended.`)
    const problem = this.#lock.heldByOther
      ? `${this.#lock.holder} holds it now`
      : 'the Lease could not be renewed in time; see whether the API server can be reached and is not overloaded'
    return new TenureError('TENURE_ELECTION_LOST', `Leadership by ${this.#lease} was lost: ${problem}.`, {
      fate: 'retry',
      cause: this.#error,
    })
  }

  /** One try to take or keep the lease: true if it is ours. Never throws. */
  async #try(signal: AbortSignal, time: number): Promise<boolean> {
    const limit = withTimeout(this.#clock, time, () => timedOut(this.#lease, time), signal)
    try {
      const held = await this.#lock.hold(this.#term !== undefined, limit.signal)
      this.#error = undefined
      return held
    } catch (error) {
      if (!signal.aborted) {
        this.#error = asError(error)
        this.#log.warn('could not read or write the lease, will try again', { error: this.#error })
      }
      return false
    } finally {
      limit.dispose()
    }
  }

  /** If it fails the lease runs out by itself. */
  async #release(): Promise<void> {
    if (!this.#releaseOnStop) return
    const time = this.#timing.requestTimeout
    const limit = withTimeout(this.#clock, time, () => timedOut(this.#lease, time))
    try {
      await this.#lock.release(limit.signal)
    } catch (error) {
      this.#log.warn('could not release the lease, it will run out', { error: asError(error) })
    } finally {
      limit.dispose()
    }
  }

  /** Soon, and just when the lease runs out if that is sooner: so a dead leader is followed within lease + retry. */
  #untilNextTry(): number {
    const wait = this.#sooner(this.#timing.retryPeriod)
    const left = this.#lock.heldByOther ? this.#lock.untilExpiry : Infinity
    return left > 0 ? Math.min(wait, left) : wait
  }

  /** Jitter that only shortens, to 60–90 %: candidates spread out, and a hand-over still takes at most one period. */
  #sooner(period: number): number {
    return period * (0.6 + 0.3 * this.#random.fraction())
  }

  async #pause(delay: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(this.#clock, delay, signal)
    } catch {
      // Woken by the end; whoever waits looks why.
    }
  }

  /** A callback that throws must not stop the election: it is reported. */
  #tell(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#log.error('a leader election callback threw', { error: asError(error) })
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function timedOut(lease: string, time: number): TenureError {
  return new TenureError('TENURE_ELECTION_TIMEOUT', `Lease ${lease}: no answer within ${Math.round(time)} ms.`, {
    fate: 'retry',
  })
}
