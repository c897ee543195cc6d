import { asError, type Kind, sleep } from '@tenure/kube'
import type { Component, OperatorContext } from '@tenure/runtime'
import type { GroupVersionKind, LeaseSettings } from '../../api/types.ts'
import { type LeaseMetrics, leaseMetrics } from '../../metrics.ts'
import { LeaseControllerRun } from './controller-run.ts'
import type { LeaseCaches } from './lease-caches.ts'

export interface KindControllerOptions {
  /** The kind to manage. A GroupVersionKind, without a `plural`, is resolved by discovery as soon as it is served. */
  readonly kind: Kind | GroupVersionKind
  readonly settings: LeaseSettings
  /** Objects reconciled at once, for writes and for deletions. Default 32. */
  readonly concurrency?: number
  /** Turns the manager's readiness red while there is a problem. Default false. */
  readonly probe?: boolean
  /** Its cache is in here while it runs. Default: none. */
  readonly caches?: LeaseCaches
}

/** Manages the leases of one kind: writes dates, warns, and deletes expired objects. */
export interface KindController extends Component {
  /** Number of leases with a date. */
  readonly activeLeases: number
  /** The next expiry, in milliseconds since 1970; undefined if there is none. */
  readonly nextExpiry: number | undefined
  /** Why leases cannot be managed now: the kind is not served, or permissions are missing. Undefined if they can. */
  readonly problem: string | undefined
}

/** Nothing happens before `start`. With leader election, `context` must be the leader's. */
export function createKindController(context: OperatorContext, options: KindControllerOptions): KindController {
  return new LeaseKindController(context, options)
}

const DEFAULT_CONCURRENCY = 32
/** Delays between searches for a kind that is not served. */
const MIN_SEARCH_DELAY_MS = 500
const MAX_SEARCH_DELAY_MS = 3_000
/** Longest delay before a restart after a failure. */
const MAX_RESTART_DELAY_MS = 30_000

class LeaseKindController implements KindController {
  readonly name: string
  readonly #context: OperatorContext
  readonly #options: KindControllerOptions
  readonly #stop = new AbortController()
  #grace = 0
  #run: LeaseControllerRun | undefined
  #waitingFor: string | undefined
  #running: Promise<void> | undefined
  #removeProbe: (() => void) | undefined

  constructor(context: OperatorContext, options: KindControllerOptions) {
    const { group, version, kind } = options.kind
    this.name = `leases of ${kind} (${group ? `${group}/` : ''}${version})`
    this.#context = context
    this.#options = options
  }

  get activeLeases(): number {
    return this.#run?.activeLeases ?? 0
  }

  get nextExpiry(): number | undefined {
    return this.#run?.nextExpiry
  }

  get problem(): string | undefined {
    return this.#waitingFor ?? this.#run?.problem
  }

  /** Resolves at once: the search for the kind and missing permissions do not delay other components. */
  start(signal: AbortSignal): Promise<void> {
    if (this.#running || signal.aborted) return Promise.resolve()
    const { group, version, kind } = this.#options.kind
    const metrics = leaseMetrics(this.#context.metrics, { group, version, kind }, () => this.activeLeases)
    if (this.#options.probe) {
      const name = ['leases', group, version, kind].filter(Boolean).join('-').toLowerCase()
      this.#removeProbe = this.#context.probes.add('ready', name, () => {
        if (this.problem !== undefined) throw new Error(this.problem)
      })
    }
    this.#running = this.#runAgain(metrics).finally(() => metrics.close())
    return Promise.resolve()
  }

  async stop(grace: number): Promise<void> {
    this.#removeProbe?.()
    this.#grace = grace
    this.#stop.abort(new Error(`${this.name} is stopped`))
    await this.#running
  }

  /** Runs the controller whenever the kind is served. */
  async #runAgain(metrics: LeaseMetrics): Promise<void> {
    const { signal } = this.#stop
    let kind = 'plural' in this.#options.kind ? this.#options.kind : undefined
    for (let delay = MIN_SEARCH_DELAY_MS; !signal.aborted;) {
      let failure: Error | undefined
      let removeCache: (() => void) | undefined
      try {
        kind ??= await this.#find(signal)
        this.#run = new LeaseControllerRun({
          context: this.#context,
          kind,
          settings: this.#options.settings,
          metrics,
          concurrency: this.#options.concurrency ?? DEFAULT_CONCURRENCY,
        })
        removeCache = this.#options.caches?.add(this.#run.informer)
        await this.#run.run(signal, () => this.#grace)
      } catch (error) {
        if (signal.aborted) break
        failure = asError(error)
        this.#context.log.error('lease controller failed, restarting', { controller: this.name, error: failure })
      } finally {
        removeCache?.()
      }
      if (signal.aborted) break
      // The kind is not served any more; the cached discovery is outdated.
      this.#waitingFor = failure?.message ?? this.#run?.problem ?? this.#waitingFor
      this.#run = undefined
      kind = undefined
      this.#context.discovery.invalidate()
      delay = failure ? Math.min(delay * 2, MAX_RESTART_DELAY_MS) : MIN_SEARCH_DELAY_MS
      await sleep(this.#context.clock, delay, signal).catch(() => undefined)
    }
    this.#run = undefined
  }

  /** Resolves with the kind as soon as the API server serves it. */
  async #find(signal: AbortSignal): Promise<Kind> {
    const { kind: gvk } = this.#options
    for (let delay = MIN_SEARCH_DELAY_MS; ; delay = Math.min(delay * 2, MAX_SEARCH_DELAY_MS)) {
      try {
        const kind = await this.#context.discovery.kind(gvk, { signal })
        this.#waitingFor = undefined
        return kind
      } catch (error) {
        if (signal.aborted) throw error
        if (this.#waitingFor === undefined) this.#context.log.info('waiting for the kind', { controller: this.name })
        this.#waitingFor = asError(error).message
      }
      await sleep(this.#context.clock, delay, signal)
    }
  }
}
