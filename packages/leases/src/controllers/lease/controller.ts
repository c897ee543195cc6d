import {
  abortReason,
  asError,
  compareResourceVersions,
  isConflict,
  type Kind,
  keyOf,
  kindKey,
  metadataOf,
  type PartialObjectMetadata,
  refTo,
  TenureError,
} from '@tenure/kube'
import {
  type Again,
  Expiry,
  type Informer,
  type InformerEvent,
  type InformerHealth,
  type ManagerContext,
  PRIORITY,
  SharedInformers,
  WorkQueue,
} from '@tenure/runtime'
import { STATUS_ANNOTATIONS } from '../../api/annotations.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { ClockSkew } from './clock-skew.ts'
import { RollbackGuard } from './rollback-guard.ts'
import { findEarlierJobs } from './cleanup/earlier-jobs.ts'
import { HeldJobs } from './cleanup/held-jobs.ts'
import { Expirer } from './expirer.ts'
import { warnOfExpiry } from './expiry-warning.ts'
import type { LeaseMetrics } from '../../metrics.ts'
import { everyNamespace, labelledNamespaces, type NamespaceFilter } from './namespace-filter.ts'
import { EventLimiter } from './event-limiter.ts'
import { expiryWarningAt } from './plan.ts'
import { WriteBackoff } from './write-backoff.ts'
import { dateLease } from './write-lease.ts'
import { type Leased, planFor, type LeaseContext } from './context.ts'
import { PermissionTracker } from './permission-tracker.ts'

export interface LeaseControllerRunOptions {
  readonly context: ManagerContext
  readonly kind: Kind
  readonly settings: LeaseSettings
  readonly metrics: LeaseMetrics
  /** Objects worked on at once, both for writing dates and for deleting. */
  readonly concurrency: number
}

/** How often to look whether the kind is still there, in milliseconds. */
const LOOK_EVERY = 2_000
const WRITE_BACKOFF = { base: 20, max: 30_000 }
const EXPIRY_BACKOFF = { backoffBase: 500, backoffMax: 30_000 }
const ANNOUNCEMENTS_AT_ONCE = 2
/** With so many steps under way, Events can wait. */
const MANY_STEPS = 4

/** Keeps the leases of a kind that is there, until it is not, or until stopped. */
export class LeaseControllerRun {
  readonly #context: LeaseContext
  readonly #informers: SharedInformers
  readonly #informer: Informer<PartialObjectMetadata>
  readonly #namespaces: NamespaceFilter
  readonly #permissions = new PermissionTracker()
  readonly #writeBackoff: WriteBackoff
  /** Objects whose annotations are to be written. */
  readonly #queue: WorkQueue
  /** Objects whose lease ends, by when. */
  readonly #expiry: Expiry
  /** Objects whose end is to be announced, by when. */
  readonly #headsUps: Expiry
  readonly #expiring: Expirer
  readonly #heldJobs: HeldJobs
  /** Events about what happened. */
  readonly #events: EventLimiter
  /** Announcements, which are worth something only beforehand: they do not wait behind the others. */
  readonly #announcements: EventLimiter
  readonly #concurrency: number
  /** Steps under way. */
  #steps = 0
  /** The ends that were announced. */
  readonly #announced = new Map<string, number>()

  constructor({ context, kind, settings, metrics, concurrency }: LeaseControllerRunOptions) {
    const { api, clock, random } = context
    const log = context.log.child({ kind: kindKey(kind) })
    this.#concurrency = concurrency
    this.#writeBackoff = new WriteBackoff(clock)
    // Its own, not the manager's: it ends with this session, and an absent kind is told by us.
    this.#informers = new SharedInformers({ api, clock, random, log: context.log, metrics: context.metrics })
    this.#informer = this.#informers.informer(metadataOf(kind))
    // What is in no namespace is not asked for its namespace, nor need we be allowed to see any.
    this.#namespaces =
      settings.optIn && kind.namespaced ? labelledNamespaces(context.informers, settings.optIn) : everyNamespace
    const isBusy = (): boolean => this.#steps >= MANY_STEPS
    this.#events = new EventLimiter({ clock, isBusy })
    this.#announcements = new EventLimiter({ clock, isBusy })
    this.#context = {
      api,
      clock,
      random,
      log,
      informers: context.informers,
      kind: metadataOf(kind),
      settings,
      metrics,
      permissions: this.#permissions,
      clockSkew: new ClockSkew(clock),
      rollbackGuard: new RollbackGuard(),
      recordEvent: (object, event) => this.#events.add(() => context.recorder.record(object, event)),
    }
    this.#queue = new WorkQueue({
      clock,
      name: `leases ${kindKey(kind)}`,
      backoff: WRITE_BACKOFF,
      metrics: context.metrics,
    })
    const common = { clock, random, log, ...EXPIRY_BACKOFF }
    this.#expiry = new Expiry({ ...common, concurrency, onDue: (key, signal) => this.#end(key, signal) })
    this.#headsUps = new Expiry({
      ...common,
      concurrency: ANNOUNCEMENTS_AT_ONCE,
      onDue: (key, signal) => this.#announce(key, signal),
    })
    const { cache } = this.#informer
    this.#heldJobs = new HeldJobs(this.#context, cache)
    this.#expiring = new Expirer(this.#context, cache, this.#heldJobs, (key) => this.#wake(key))
  }

  get activeLeases(): number {
    return this.#expiry.size
  }

  get nextExpiry(): number | undefined {
    return this.#expiry.next()?.due
  }

  get problem(): string | undefined {
    const { health } = this.#informer
    if (health.state === 'down') return health.error.message
    return this.#namespaces.problem ?? this.#permissions.problem
  }

  /** Runs until `stop` aborts, then finishes the writes that run unless `drop` aborts too. Resolves early if the kind is gone. */
  async run(stop: AbortSignal, drop: AbortSignal): Promise<void> {
    const ended = new AbortController()
    const watching = new AbortController()
    const end = (): void => ended.abort(abortReason(stop))
    stop.addEventListener('abort', end, { once: true })
    if (stop.aborted) end()
    const ends: (() => void)[] = []
    const runs: Promise<unknown>[] = []
    try {
      await this.#namespaces.whenSynced(ended.signal)
      this.#informers.start(watching.signal)
      ends.push(this.#informer.subscribe((event) => this.#onEvent(event)))
      ends.push(this.#namespaces.onChange((namespace) => this.#onNamespace(namespace)))
      for (let worker = 0; worker < this.#concurrency; worker++) runs.push(this.#work(drop))
      runs.push(this.#expiry.run(ended.signal), this.#headsUps.run(ended.signal))
      runs.push(this.#heldJobs.run(drop), this.#findEarlierJobs(ended.signal))
      await this.#untilGone(ended.signal)
    } catch (error) {
      if (!stop.aborted) throw error
    } finally {
      stop.removeEventListener('abort', end)
      ended.abort(new Error('the kind is gone'))
      for (const unsubscribe of ends) unsubscribe()
      this.#queue.shutDown()
      this.#heldJobs.close()
      // First, so that nothing that runs waits for its turn to be told.
      this.#announcements.close()
      this.#events.close()
      await Promise.all(runs)
      this.#expiring.close()
      watching.abort(new Error('the leases of this kind are kept no more'))
      await this.#informers.whenStopped()
    }
  }

  /** Once there is something to compare them with. */
  async #findEarlierJobs(signal: AbortSignal): Promise<void> {
    await this.#informer.whenSynced(signal).catch(() => undefined)
    await findEarlierJobs(this.#context, this.#heldJobs, signal)
  }

  /** Resolves when the API server does not know the kind any more, or `signal` aborts. */
  #untilGone(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    return new Promise((resolve) => {
      const finish = (): void => {
        timer.cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const look = (): void => {
        if (isUnknownKind(this.#informer.health)) finish()
        else timer = clock.setTimer(LOOK_EVERY, look)
      }
      let timer = clock.setTimer(LOOK_EVERY, look)
      if (signal.aborted) finish()
      else signal.addEventListener('abort', finish, { once: true })
    })
  }

  #onEvent(event: InformerEvent<PartialObjectMetadata>): void {
    const { object } = event
    const key = keyOf(refTo(object))
    if (event.type === 'deleted') {
      this.#forget(key)
      this.#heldJobs.deleted(key, object.metadata.uid)
      return
    }
    if (event.type === 'modified') {
      const { rollbackGuard, settings, clock } = this.#context
      rollbackGuard.observe(key, event, settings, clock.now())
    }
    this.#look(key, object, event.type === 'added' && event.initial)
    // Also where nothing is managed any more: what is held there was made while it was.
    this.#heldJobs.observe(key, object)
    // Somebody may have mended what keeps it from ending; that is no reason to wait for the next try.
    if (event.type === 'modified' && this.#isOtherwiseLeased(event.old, object)) this.#wake(key)
  }

  #onNamespace(namespace: string): void {
    for (const object of this.#informer.cache.list(namespace)) this.#look(keyOf(refTo(object)), object, true)
  }

  /** Files an object by what it asks for. Nothing is requested here: an object that says what is costs nothing. */
  #look(key: string, object: Leased, isInitial: boolean): void {
    if (!this.#namespaces.has(object.metadata.namespace)) {
      this.#forget(key)
      return
    }
    const { clock, settings } = this.#context
    const now = clock.now()
    const { changes, lease } = planFor(this.#context, object, now)
    if (Object.keys(changes).length > 0)
      this.#queue.add(key, isInitial ? PRIORITY.low : PRIORITY.normal, this.#writeBackoff.delay(key))
    // Only what stands on an object holds: a date is written first, and its lease ends after that.
    if (!lease || changes[lease.family.prefix + STATUS_ANNOTATIONS.expireAt] !== undefined) {
      this.#unfile(key)
      return
    }
    this.#expiry.set(key, lease.expireAt)
    const announceAt = expiryWarningAt(lease, settings.expiryWarning)
    if (announceAt !== undefined && now < lease.expireAt && this.#announced.get(key) !== lease.expireAt) {
      this.#headsUps.set(key, announceAt)
    } else {
      this.#headsUps.delete(key)
    }
  }

  #forget(key: string): void {
    this.#unfile(key)
    this.#announced.delete(key)
    this.#permissions.succeeded(key)
    this.#writeBackoff.forget(key)
    this.#context.rollbackGuard.forget(key)
    this.#queue.forget(key)
  }

  #unfile(key: string): void {
    this.#expiry.delete(key)
    this.#headsUps.delete(key)
    this.#expiring.forget(key)
  }

  /** Looks at a lease that has ended again at once, whatever it waits for. */
  #wake(key: string): void {
    const now = this.#context.clock.now()
    const object = this.#informer.cache.getByKey(key)
    const expireAt = object && planFor(this.#context, object, now).lease?.expireAt
    if (expireAt === undefined || expireAt > now) return
    this.#expiry.delete(key)
    this.#expiry.set(key, expireAt)
  }

  /** Whether what users say about the lease differs, not only what we answer. */
  #isOtherwiseLeased(old: Leased, object: Leased): boolean {
    const before = old.metadata.annotations ?? {}
    const after = object.metadata.annotations ?? {}
    const answers = new Set<string>(Object.values(STATUS_ANNOTATIONS))
    return this.#context.settings.families.some(({ prefix }) =>
      [...Object.keys(before), ...Object.keys(after)].some(
        (name) => name.startsWith(prefix) && !answers.has(name.slice(prefix.length)) && before[name] !== after[name],
      ),
    )
  }

  /** One worker: writes what is to be written, object by object, until the queue is shut down. */
  async #work(drop: AbortSignal): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      try {
        await this.#write(key, drop)
        this.#queue.forget(key)
      } catch (error) {
        const isRace = isConflict(error)
        if (!isRace && !drop.aborted)
          this.#context.log.warn('lease could not be written, will try again', { key, error: asError(error) })
        this.#queue.retry(key)
      } finally {
        this.#queue.done(key)
      }
    }
  }

  async #write(key: string, drop: AbortSignal): Promise<void> {
    const object = this.#informer.cache.getByKey(key)
    if (!object || !this.#namespaces.has(object.metadata.namespace)) return
    if (await this.#timed(key, drop, () => dateLease(this.#context, object, drop))) this.#writeBackoff.written(key)
  }

  async #end(key: string, signal: AbortSignal): Promise<Again | void> {
    const object = this.#informer.cache.getByKey(key)
    if (!object || !this.#namespaces.has(object.metadata.namespace)) return
    this.#namespaces.check()
    const ended = await this.#timed(key, signal, () => this.#expiring.end(key, object, signal))
    if (!ended || 'again' in ended) return ended
    // The cache may have moved on while it was read: what is newer holds.
    const cached = this.#informer.cache.getByKey(key)
    if (!cached) return
    const { changed } = ended
    const isNewer = compareResourceVersions(changed.metadata.resourceVersion, cached.metadata.resourceVersion) > 0
    this.#look(key, isNewer ? changed : cached, false)
  }

  #announce(key: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    const object = this.#informer.cache.getByKey(key)
    const lease = object && planFor(this.#context, object, clock.now()).lease
    if (!lease || lease.expireAt <= clock.now() || this.#announced.get(key) === lease.expireAt) return Promise.resolve()
    this.#announced.set(key, lease.expireAt)
    // In its turn, and not after the fact.
    return new Promise((resolve, reject) => {
      this.#announcements.add(
        () => {
          warnOfExpiry(this.#context, object, lease, signal).then(resolve, (error: unknown) => {
            this.#announced.delete(key)
            reject(asError(error))
          })
        },
        lease.expireAt,
        resolve,
      )
    })
  }

  /** Measures one step for one object. What fails counts once, until it succeeds; a race that somebody else won is no failure. */
  async #timed<R>(key: string, signal: AbortSignal, step: () => Promise<R>): Promise<R> {
    const { clock, metrics } = this.#context
    const began = clock.monotonic()
    this.#steps++
    try {
      const result = await step()
      this.#permissions.succeeded(key)
      return result
    } catch (error) {
      if (!isConflict(error) && !signal.aborted && this.#permissions.failed(key)) metrics.errors.inc()
      throw error
    } finally {
      this.#steps--
      metrics.duration.observe((clock.monotonic() - began) / 1_000)
    }
  }
}

function isUnknownKind(health: InformerHealth): boolean {
  return health.state === 'down' && health.error instanceof TenureError && health.error.code === 'TENURE_KIND_UNKNOWN'
}
