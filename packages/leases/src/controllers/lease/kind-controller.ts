import { asError, type Kind, sleep, withTimeout } from '@tenure/kube'
import type { Component, ManagerContext } from '@tenure/runtime'
import type { GroupVersionKind, LeaseSettings } from '../../api/types.ts'
import { type KindFinder, kindFinder } from './kind-finder.ts'
import { type LeaseMetrics, leaseMetrics } from '../../metrics.ts'
import { LeaseControllerRun } from './controller.ts'

export interface KindControllerOptions {
  /** Whose leases. A GroupVersionKind, without a `plural`, is found by discovery, and waited for. */
  readonly kind: Kind | GroupVersionKind
  readonly settings: LeaseSettings
  /** Objects worked on at once, both for writing dates and for deleting. Default 32. */
  readonly concurrency?: number
  /** Turn the manager's readiness red while there is a problem. Default false. */
  readonly probe?: boolean
  /** How the kind is found. Default: by asking the API server. */
  readonly finder?: KindFinder
}

/** Keeps the leases of one kind: dates them, warns, and deletes what has had its time. */
export interface KindController extends Component {
  /** Leases that have a date. */
  readonly activeLeases: number
  /** When the next one ends, in milliseconds since 1970; undefined if none does. */
  readonly nextExpiry: number | undefined
  /** Why it cannot do its work now, for a person: the kind is absent, rights are missing. Undefined: it can. */
  readonly problem: string | undefined
}

/** Makes a keeper; nothing happens before `start`. With leader election, `context` must be the leader's. */
export function createKindController(context: ManagerContext, options: KindControllerOptions): KindController {
  return new Keeper(context, options)
}

const DEFAULT_CONCURRENCY = 32
/** Waits between looks for a kind that is not there, in milliseconds. */
const FIRST_LOOK = 500
const LONGEST_LOOK = 3_000
/** The longest wait after what failed altogether, in milliseconds. */
const LONGEST_REST = 30_000

class Keeper implements KindController {
  readonly name: string
  readonly #context: ManagerContext
  readonly #options: KindControllerOptions
  readonly #stop = new AbortController()
  readonly #drop = new AbortController()
  #session: LeaseControllerRun | undefined
  #waitingFor: string | undefined
  #running: Promise<void> | undefined
  #removeProbe: (() => void) | undefined

  constructor(context: ManagerContext, options: KindControllerOptions) {
    const { group, version, kind } = options.kind
    this.name = `leases of ${kind} (${group ? `${group}/` : ''}${version})`
    this.#context = context
    this.#options = options
  }

  get activeLeases(): number {
    return this.#session?.activeLeases ?? 0
  }

  get nextExpiry(): number | undefined {
    return this.#session?.nextExpiry
  }

  get problem(): string | undefined {
    return this.#waitingFor ?? this.#session?.problem
  }

  /** Resolves at once: a kind that is not there, or that we may not see, is waited for beside everything else. */
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
    this.#running = this.#run(metrics).finally(() => metrics.close())
    return Promise.resolve()
  }

  async stop(grace: number): Promise<void> {
    this.#removeProbe?.()
    this.#stop.abort(new Error(`${this.name} are kept no more`))
    if (grace <= 0) this.#drop.abort(this.#stop.signal.reason)
    const timeout = withTimeout(this.#context.clock, grace, () => new Error('the grace period is over'))
    timeout.signal.addEventListener('abort', () => this.#drop.abort(timeout.signal.reason), { once: true })
    try {
      await this.#running
    } finally {
      timeout.dispose()
    }
  }

  async #run(metrics: LeaseMetrics): Promise<void> {
    const { signal } = this.#stop
    let kind = 'plural' in this.#options.kind ? this.#options.kind : undefined
    for (let rest = FIRST_LOOK; !signal.aborted;) {
      let failure: Error | undefined
      try {
        kind ??= await this.#find(signal)
        this.#session = new LeaseControllerRun({
          context: this.#context,
          kind,
          settings: this.#options.settings,
          metrics,
          concurrency: this.#options.concurrency ?? DEFAULT_CONCURRENCY,
        })
        await this.#session.run(signal, this.#drop.signal)
      } catch (error) {
        if (signal.aborted) break
        failure = asError(error)
        this.#context.log.error('keeping leases failed, beginning anew', { keeper: this.name, error: failure })
      }
      if (signal.aborted) break
      // It was there and is not any more, or not yet; what discovery said before does not count.
      this.#waitingFor = failure?.message ?? this.#session?.problem ?? this.#waitingFor
      this.#session = undefined
      kind = undefined
      this.#finder().invalidate()
      rest = failure ? Math.min(rest * 2, LONGEST_REST) : FIRST_LOOK
      await sleep(this.#context.clock, rest, signal).catch(() => undefined)
    }
    this.#session = undefined
  }

  /** The kind, as soon as the API server serves it. */
  async #find(signal: AbortSignal): Promise<Kind> {
    const { kind: gvk } = this.#options
    for (let wait = FIRST_LOOK; ; wait = Math.min(wait * 2, LONGEST_LOOK)) {
      try {
        const kind = await this.#finder().find(gvk, signal)
        this.#waitingFor = undefined
        return kind
      } catch (error) {
        if (signal.aborted) throw error
        if (this.#waitingFor === undefined) this.#context.log.info('waiting for the kind', { keeper: this.name })
        this.#waitingFor = asError(error).message
      }
      await sleep(this.#context.clock, wait, signal)
    }
  }

  #finder(): KindFinder {
    return this.#options.finder ?? kindFinder(this.#context.api)
  }
}
