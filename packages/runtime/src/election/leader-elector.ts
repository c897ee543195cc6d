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
   * Called when leadership is acquired. `term` aborts when it ends: at once if the lease is lost, or on a clean stop.
   * The returned promise must settle when all work has stopped: on a clean stop the lease is held until then, so that
   * two leaders never overlap. If it rejects, the term ends and `run` rejects with the same error.
   */
  onStarted(term: AbortSignal): Promise<void> | void
  /**
   * The term has ended. `lost`: called in the tick in which `term` aborts. `stopped`: called after the work has ended.
   */
  onStopped?(reason: 'stopped' | 'lost'): void
  /** Called when another leader is observed, this process included. */
  onNewLeader?(identity: string): void
}

/** State of the election, for `/leader`. */
export interface LeaderInfo {
  readonly identity: string
  readonly isLeader: boolean
  /** The holder in the Lease as last observed; undefined if there is none. It may have died since. */
  readonly holder: string | undefined
  readonly lease: LeaseSpec | undefined
  /** Error of the last attempt; undefined if it succeeded. */
  readonly error: Error | undefined
}

interface Term {
  /** Signal that the work receives. */
  readonly controller: AbortController
  /** Ends the renewals: the work has ended or the lease is lost. */
  readonly over: AbortController
  /** Monotonic time until which no other process can lead. */
  deadline: number
  watchdog: Timer | undefined
}

/**
 * Leader election on a coordination.k8s.io Lease, compatible with client-go. Only the monotonic clock decides. A
 * follower waits the lease duration from when it *observed* the last renewal, which is after the leader *started* it;
 * the leader counts its shorter deadline from that start. So terms never overlap, whatever the wall clocks say and
 * however long requests take.
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
      .gauge({
        name: 'leader_election_master_status',
        help: 'Whether this process is the leader (1) or not (0).',
        labels: ['name'],
      })
      .with({ name: options.name })
    this.#status.set(0)
    const slowPath = metrics
      .counter({
        name: 'leader_election_slowpath_total',
        help: 'Number of renewals that had to read the Lease first.',
        labels: ['name'],
      })
      .with({ name: options.name })
    this.#lock = new LeaseLock({
      api: options.api,
      clock: options.clock,
      ref: { namespace: options.namespace, name: options.name },
      identity: this.identity,
      leaseDuration: this.#timing.leaseDuration,
      isEnded: options.isEnded ?? (() => false),
      onSlowPath: (error) => {
        slowPath.inc()
        this.#log.debug('optimistic renewal failed, reading the lease', { error: asError(error) })
      },
      onHolder: (holder) => {
        this.#log.info('observed new leader', { leader: holder })
        this.#notify(() => this.#callbacks?.onNewLeader?.(holder))
      },
    })
  }

  /**
   * Whether this process leads now. Each call reads the monotonic clock, so the result is right even as the first thing
   * a process does after it was suspended. Check it before each step that only a leader may take; `fenced` does so for
   * every write of a transport. On a clean stop it stays true until the work has ended.
   */
  isLeader(): boolean {
    const term = this.#term
    if (!term) return false
    if (this.#clock.monotonic() < term.deadline) return true
    this.#endTerm(term, 'lost')
    return false
  }

  /** Monotonic time until which no other process can lead; undefined if this process does not lead. */
  get leadsUntil(): number | undefined {
    return this.#term?.deadline
  }

  leader(): LeaderInfo {
    const isLeader = this.isLeader()
    const { holder, spec: lease } = this.#lock
    return { identity: this.identity, isLeader, holder, lease, error: this.#error }
  }

  /**
   * Runs as a candidate until `signal` aborts, for at most one term. Resolves with `stopped` after a clean stop or with
   * `lost` when leadership was lost, in both cases after the work has ended. Run again to become a candidate again.
   * Keeps retrying while the API server is unreachable.
   */
  async run(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<'stopped' | 'lost'> {
    if (this.#running) {
      throw new TenureError(
        'TENURE_ELECTION_RUNNING',
        'This elector is already running; wait for run() to settle first.',
        {
          fate: 'bug',
        },
      )
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
        // The lease may have been acquired just as the stop arrived; release it.
        await this.#release()
        break
      }
      // A response that took longer than a term is useless; the next attempt finds this identity on the lease.
      if (won && this.#clock.monotonic() < began + this.#timing.renewDeadline) return this.#beginTerm(began)
      await this.#pause(this.#retryDelay(), signal)
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
        // Work without a promise lasts until its term ends.
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
        // Another process took or changed the lease: the term is over, whatever time remains.
        this.#endTerm(term, 'lost')
        return
      }
      wait = renewed ? this.#timing.retryPeriod : this.#jitter(this.#timing.retryPeriod / 2)
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
    if (why === 'lost') this.#log.error('lost leader lease', { error: reason })
    else this.#log.info('stopped leading')
    term.controller.abort(reason)
    term.over.abort()
    this.#notify(() => this.#callbacks?.onStopped?.(why))
  }

  #whyOver(why: 'stopped' | 'lost'): TenureError {
    if (why === 'stopped')
      return new TenureError('TENURE_ELECTION_STOPPED', `The leader term on ${this.#lease} has ended.`)
    const problem = this.#lock.heldByOther
      ? `${this.#lock.holder} holds the Lease now`
      : 'the Lease was not renewed in time; check that the API server is reachable and not overloaded'
    return new TenureError('TENURE_ELECTION_LOST', `Leadership on ${this.#lease} was lost: ${problem}.`, {
      fate: 'retry',
      cause: this.#error,
    })
  }

  /** One attempt to acquire or renew the lease; true if this process holds it. Never throws. */
  async #try(signal: AbortSignal, time: number): Promise<boolean> {
    const limit = withTimeout(this.#clock, time, () => timedOut(this.#lease, time), signal)
    try {
      const held = await this.#lock.hold(this.#term !== undefined, limit.signal)
      this.#error = undefined
      return held
    } catch (error) {
      if (!signal.aborted) {
        this.#error = asError(error)
        this.#log.warn('failed to acquire or renew the lease, retrying', { error: this.#error })
      }
      return false
    } finally {
      limit.dispose()
    }
  }

  /** If the release fails, the lease expires by itself. */
  async #release(): Promise<void> {
    if (!this.#releaseOnStop) return
    const time = this.#timing.requestTimeout
    const limit = withTimeout(this.#clock, time, () => timedOut(this.#lease, time))
    try {
      await this.#lock.release(limit.signal)
    } catch (error) {
      this.#log.warn('failed to release the lease, it will expire', { error: asError(error) })
    } finally {
      limit.dispose()
    }
  }

  /**
   * After the retry period, or exactly when the lease expires if that is earlier: a dead leader is replaced within
   * lease + retry.
   */
  #retryDelay(): number {
    const wait = this.#jitter(this.#timing.retryPeriod)
    const left = this.#lock.heldByOther ? this.#lock.untilExpiry : Infinity
    return left > 0 ? Math.min(wait, left) : wait
  }

  /** Jitter that only shortens, to 60–90 %: candidates spread out, and a takeover still takes at most one period. */
  #jitter(period: number): number {
    return period * (0.6 + 0.3 * this.#random.fraction())
  }

  async #pause(delay: number, signal: AbortSignal): Promise<void> {
    try {
      await sleep(this.#clock, delay, signal)
    } catch {
      // The wait was aborted; the caller checks the reason.
    }
  }

  /** A callback that throws must not stop the election; the error is logged. */
  #notify(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#log.error('leader election callback failed', { error: asError(error) })
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
  return new TenureError('TENURE_ELECTION_TIMEOUT', `Lease ${lease}: no response within ${Math.round(time)} ms.`, {
    fate: 'retry',
  })
}
