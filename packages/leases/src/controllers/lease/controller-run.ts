import {
  isConflict,
  isObjectRejected,
  type Kind,
  keyOf,
  kindKey,
  metadataOf,
  type PartialObjectMetadata,
  refTo,
  TenureError,
} from '@tenure/kube'
import {
  ControllerRunner,
  type Informer,
  type InformerEvent,
  type InformerHealth,
  type OperatorContext,
  type ReconcileOutcome,
  SharedInformers,
} from '@tenure/runtime'
import { EVENT_REASONS } from '../../api/reasons.ts'
import type { LeaseSettings } from '../../api/types.ts'
import type { LeaseMetrics } from '../../metrics.ts'
import { queueNames } from '../../api/queue-names.ts'
import { Cleanup } from './cleanup/cleanup.ts'
import { findEarlierJobs } from './cleanup/earlier-jobs.ts'
import { HeldJobs } from './cleanup/held-jobs.ts'
import { ClockSkew } from './clock-skew.ts'
import type { LeaseContext } from './context.ts'
import { leaseController } from './controller.ts'
import { EventLimiter } from './event-limiter.ts'
import { leaseExpiry } from './expirer.ts'
import { earliestWarning, ExpiryWarnings } from './expiry-warning.ts'
import { everyNamespace, labelledNamespaces, type NamespaceFilter } from './namespace-filter.ts'
import { PermissionTracker } from './permission-tracker.ts'
import { LeasePlanner } from './planner.ts'
import { RollbackGuard } from './rollback-guard.ts'
import { WriteBackoff } from './write-backoff.ts'

export interface LeaseControllerRunOptions {
  readonly context: OperatorContext
  readonly kind: Kind
  readonly settings: LeaseSettings
  readonly metrics: LeaseMetrics
  /** Objects reconciled at once, for writes and for deletions. */
  readonly concurrency: number
}

/** Interval of the check whether the kind is still served. */
const KIND_CHECK_MS = 2_000
/** From this many reconciles in progress on, Events are delayed. */
const BUSY_RECONCILES = 4

/** Runs the lease controller of a kind while it is served. */
export class LeaseControllerRun {
  readonly #context: LeaseContext
  readonly #informers: SharedInformers
  readonly #informer: Informer<PartialObjectMetadata>
  readonly #namespaces: NamespaceFilter
  readonly #permissions = new PermissionTracker()
  readonly #rollbackGuard = new RollbackGuard()
  readonly #writeBackoff: WriteBackoff
  readonly #events: EventLimiter
  readonly #warnings: ExpiryWarnings
  readonly #heldJobs: HeldJobs
  readonly #cleanup: Cleanup
  readonly #runner: ControllerRunner

  constructor({ context, kind, settings, metrics, concurrency }: LeaseControllerRunOptions) {
    const { api, clock, random } = context
    const { controller: name, warnings } = queueNames(kind)
    const log = context.log.child({ kind: kindKey(kind) })
    // Not the operator's informers: these end with this run, and `problem` reports a kind that is not served.
    this.#informers = new SharedInformers({ api, clock, random, log: context.log, metrics: context.metrics })
    this.#informer = this.#informers.informer(metadataOf(kind))
    // A cluster-scoped kind needs no access to namespaces.
    this.#namespaces =
      settings.optIn && kind.namespaced ? labelledNamespaces(context.informers, settings.optIn) : everyNamespace
    this.#writeBackoff = new WriteBackoff(clock)
    const isBusy = (): boolean => this.#runner.active >= BUSY_RECONCILES
    this.#events = new EventLimiter({ clock, isBusy })
    const recorder = this.#events.limit(context.recorder)
    const planner = new LeasePlanner(kind, settings, this.#rollbackGuard)
    this.#context = {
      api,
      clock,
      random,
      log,
      informers: context.informers,
      identity: context.identity,
      kind: metadataOf(kind),
      settings,
      metrics,
      namespaces: this.#namespaces,
      planOf: (object, now) => planner.planOf(object, now),
      recordEvent: (object, event) => recorder.record(object, event),
    }
    const { cache } = this.#informer
    this.#warnings = new ExpiryWarnings({
      name: warnings,
      context: this.#context,
      cache,
      isBusy,
    })
    this.#heldJobs = new HeldJobs(this.#context, cache)
    this.#cleanup = new Cleanup(this.#context, this.#heldJobs, (key) => this.#runner.enqueue(key))
    const definition = leaseController({
      name,
      context: this.#context,
      cleanup: this.#cleanup,
      clockSkew: new ClockSkew(clock),
      warnings: this.#warnings,
      writeBackoff: this.#writeBackoff,
      recorder,
      concurrency,
      onReconciled: (outcome) => this.#onReconciled(outcome),
    })
    this.#runner = new ControllerRunner(definition, {
      api,
      informers: this.#informers,
      clock,
      random,
      log,
      metrics: context.metrics,
      fieldManager: context.identity.name,
    })
  }

  /** All objects of the kind. */
  get informer(): Informer<PartialObjectMetadata> {
    return this.#informer
  }

  get activeLeases(): number {
    return this.#runner.expiring
  }

  get nextExpiry(): number | undefined {
    return this.#runner.nextExpiry
  }

  get problem(): string | undefined {
    const { health } = this.#informer
    if (health.state === 'down') return health.error.message
    return this.#namespaces.problem ?? this.#permissions.problem
  }

  /** Runs until `signal` aborts, then stops within `grace()` milliseconds. Resolves early if the kind is not served. */
  async run(signal: AbortSignal, grace: () => number): Promise<void> {
    const ended = new AbortController()
    const watching = new AbortController()
    let stopping: Promise<unknown> | undefined
    // In the call that aborts: without a grace period nothing may be written after it.
    const stop = (): void => {
      ended.abort(signal.reason)
      stopping ??= this.#stop(grace())
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const ends: (() => void)[] = []
    try {
      await this.#namespaces.whenSynced(ended.signal)
      this.#informers.start(watching.signal)
      // Before the runner subscribes: it plans with what is noted here.
      ends.push(this.#informer.subscribe((event) => this.#onEvent(event)))
      ends.push(this.#namespaces.onChange((namespace) => this.#onNamespace(namespace)))
      await Promise.all([this.#warnings.start(), this.#heldJobs.start()])
      await Promise.all([this.#start(ended.signal), this.#untilGone(ended)])
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', stop)
      ended.abort(new Error('The kind is not served any more'))
      for (const end of ends) end()
      await (stopping ?? this.#stop(grace()))
      this.#cleanup.close()
      watching.abort(new Error('The lease controller is stopped'))
      await this.#informers.whenStopped()
    }
  }

  /** Starts the controller, and searches for jobs of an earlier process once there are objects to compare with. */
  async #start(signal: AbortSignal): Promise<void> {
    try {
      await this.#runner.start(signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    await findEarlierJobs(this.#context, this.#heldJobs, signal)
  }

  async #stop(grace: number): Promise<void> {
    this.#events.close()
    await Promise.all([this.#runner.stop({ grace }), this.#warnings.stop(grace), this.#heldJobs.stop(grace)])
  }

  /** Resolves when the API server does not serve the kind any more, or `ended` aborts; aborts `ended`. */
  #untilGone(ended: AbortController): Promise<void> {
    const { clock } = this.#context
    return new Promise((resolve) => {
      const finish = (): void => {
        timer.cancel()
        ended.signal.removeEventListener('abort', finish)
        ended.abort(new Error('The kind is not served any more'))
        resolve()
      }
      const check = (): void => {
        if (isUnknownKind(this.#informer.health)) finish()
        else timer = clock.setTimer(KIND_CHECK_MS, check)
      }
      let timer = clock.setTimer(KIND_CHECK_MS, check)
      if (ended.signal.aborted) finish()
      else ended.signal.addEventListener('abort', finish, { once: true })
    })
  }

  #onEvent(event: InformerEvent<PartialObjectMetadata>): void {
    const { object } = event
    const key = keyOf(refTo(object))
    if (event.type === 'deleted') {
      this.#warnings.forget(key)
      this.#permissions.succeeded(key)
      this.#writeBackoff.forget(key)
      this.#rollbackGuard.forget(key)
      this.#cleanup.forget(key)
      this.#heldJobs.deleted(key, object.metadata.uid)
      return
    }
    const { clock, settings } = this.#context
    const now = clock.now()
    const old = event.type === 'modified' ? event.old : undefined
    if (event.type === 'modified') this.#rollbackGuard.observe(key, event, settings, now)
    const warnAt = earliestWarning(object, old, settings)
    if (warnAt !== undefined && warnAt > now) this.#runner.enqueueAt(key, warnAt)
    const isWaiting = this.#cleanup.isWaiting(key)
    if (isWaiting && leaseExpiry(this.#context, object) === undefined) this.#cleanup.forget(key)
    // Also in namespaces that are no longer managed: their held jobs are still released.
    this.#heldJobs.observe(key, object)
  }

  #onNamespace(namespace: string): void {
    for (const object of this.#informer.cache.list(namespace)) {
      const key = keyOf(refTo(object))
      this.#runner.observeExpiry(key)
      this.#runner.enqueue(key)
    }
  }

  /** Counts a failing object once until it succeeds. A conflict is not a failure. */
  #onReconciled({ error, key, seconds }: ReconcileOutcome): void {
    const { metrics } = this.#context
    metrics.duration.observe(seconds)
    if (!error) this.#permissions.succeeded(key)
    else if (!isConflict(error) && this.#permissions.failed(key, error)) {
      metrics.errors.inc()
      if (isObjectRejected(error)) this.#reportRejected(key, error)
    }
  }

  /** An Event is the only place to say it: the status is an annotation, which could not be written. */
  #reportRejected(key: string, { message }: Error): void {
    const object = this.#informer.cache.getByKey(key)
    if (!object) return
    const text = `The API server refuses a request of the lease controller. The object is kept until it accepts one. ${message}`
    this.#context.recordEvent(object, { type: 'Warning', reason: EVENT_REASONS.rejected, message: text })
  }
}

function isUnknownKind(health: InformerHealth): boolean {
  return health.state === 'down' && health.error instanceof TenureError && health.error.code === 'TENURE_KIND_UNKNOWN'
}
