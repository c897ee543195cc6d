import { type KubeApi, type PartialObjectMetadata, refTo, TenureError } from '@tenure/kube'
import { type Again, type Cache, expire } from '@tenure/runtime'
import { STATUS_ANNOTATIONS } from '../../api/annotations.ts'
import { EVENT_REASONS } from '../../api/reasons.ts'
import { Cleanup } from './cleanup/cleanup.ts'
import type { HeldJobs } from './cleanup/held-jobs.ts'
import { DELETING, DRY_RUN, EXPIRED, isExpired, isReadyToDelete, type LeasePlan } from './plan.ts'
import { BatchedReads, withReads } from './batched-reads.ts'
import { liveRead, writeChanges } from './write-lease.ts'
import { type Leased, planFor, type LeaseContext } from './context.ts'
import { formatTime } from '../../api/time.ts'

/** The object changed since the cache saw it, in a way that matters: look again when the cache has seen it too. */
const CACHE_LAG = 200

/** What is known of an object at its end, and what is to become of its place in the heap. */
export type Ended = Again | { readonly changed: Leased } | undefined

/** An object that was just read, and whose time has come by both clocks. */
interface Due {
  readonly object: Leased
  readonly plan: LeasePlan
  readonly lease: NonNullable<LeasePlan['lease']>
  readonly serverTime: number
}

/** Ends leases: prepares what must come before a deletion, and deletes what has had its time. */
export class Expirer {
  readonly #context: LeaseContext
  readonly #cleanup: Cleanup

  /** What reads objects just before they are deleted. */
  readonly #reading: KubeApi

  /** `wake` is called with the key of an object whose cleanup job changed. */
  constructor(
    context: LeaseContext,
    cache: Cache<PartialObjectMetadata>,
    heldJobs: HeldJobs,
    wake: (key: string) => void,
  ) {
    this.#context = context
    this.#reading = withReads(context, new BatchedReads(context, cache))
    this.#cleanup = new Cleanup(context, heldJobs, wake)
  }

  close(): void {
    this.#cleanup.close()
  }

  /** Forgets what is known beside the API server's own state. */
  forget(key: string): void {
    this.#cleanup.forget(key)
  }

  /** The time of `cached` has come, as far as the cache knows. */
  async end(key: string, cached: Leased, signal: AbortSignal): Promise<Ended> {
    const { clock, settings } = this.#context
    const plan = planFor(this.#context, cached, clock.now())
    if (!plan.lease || !isExpired(cached, plan, clock.now())) return { changed: cached }
    if (settings.dryRun) return this.#keepForDryRun(cached, plan, signal)
    if (needsPreparation(cached, plan)) {
      const prepared = await this.#prepare(key, cached, signal)
      if (prepared !== 'ready') return prepared
    }
    return this.#delete(cached, plan.lease.propagation, signal)
  }

  /** Deletes exactly an object that was read, is due by two clocks, and for which nothing else is to be done first. */
  async #delete(
    cached: Leased,
    propagation: NonNullable<LeasePlan['lease']>['propagation'],
    signal: AbortSignal,
  ): Promise<Ended> {
    const { clock, kind, metrics, recordEvent, log } = this.#context
    const isDue = (object: Leased, now: number): boolean => {
      const plan = planFor(this.#context, object, now)
      return isExpired(object, plan, now) && isReadyToDelete(object, plan) && plan.lease?.propagation === propagation
    }
    const result = await expire(this.#reading, kind, refTo(cached), { clock, isDue, propagation, signal })
    const now = clock.now()
    if (result.outcome === 'deleted' || result.outcome === 'deleting') {
      const expireAt = planFor(this.#context, cached, now).lease?.expireAt ?? now
      metrics.expired.inc()
      metrics.lateness.observe(Math.max(now - expireAt, 0) / 1_000)
      const message = `The lease ended at ${formatTime(expireAt)}; the object was deleted.`
      recordEvent(result.object, { type: 'Normal', reason: EVENT_REASONS.expired, message })
      log.info('lease expired, object deleted', { namespace: cached.metadata.namespace, name: cached.metadata.name })
    }
    if (result.outcome === 'early') return { again: result.retryAfter }
    if (result.outcome !== 'not-due') return undefined
    const plan = planFor(this.#context, result.object, now)
    return isExpired(result.object, plan, now) ? { again: CACHE_LAG } : { changed: result.object }
  }

  /** The object as it is now, if it is due by both clocks; or else what is to become of its place. */
  async #readDue(
    cached: Leased,
    signal: AbortSignal,
  ): Promise<{ readonly due: Due } | { readonly due?: undefined; readonly ended: Ended }> {
    const { clock } = this.#context
    const read = await liveRead(this.#context, cached, signal)
    if (!read) return { ended: undefined }
    const { object, serverTime } = read
    const now = clock.now()
    const plan = planFor(this.#context, object, now)
    const { lease } = plan
    if (!lease || !isExpired(object, plan, now)) return { ended: { changed: object } }
    if (serverTime === undefined) throw withoutServerTime()
    // Ours is ahead; the deletion would be refused as early, so that what comes before it would be early, too.
    if (!isExpired(object, plan, serverTime))
      return { ended: { again: Math.min(Math.max(lease.expireAt - serverTime, 250), 60_000) } }
    return { due: { object, plan, lease, serverTime } }
  }

  /** What must be done before the deletion, one thing after the other, each on the object as it is then. */
  async #prepare(key: string, cached: Leased, signal: AbortSignal): Promise<Ended | 'ready'> {
    const read = await this.#readDue(cached, signal)
    if (!read.due) return read.ended
    const { object, plan, lease, serverTime } = read.due
    const { job } = lease
    if (job?.ok) {
      const ending = { object, lease, config: job.config, now: serverTime }
      const step = await this.#cleanup.step(key, ending, signal)
      if (step !== 'ready') return step
    } else if (job && job.onFailure === 'keep') {
      await this.#write(
        object,
        plan,
        `${EXPIRED} The cleanup job cannot be run: ${job.reason}. Object is kept.`,
        signal,
      )
      return undefined
    } else if (isStayingFor(object, plan)) {
      await this.#write(object, plan, DELETING, signal)
    }
    return 'ready'
  }

  async #keepForDryRun(cached: Leased, plan: LeasePlan, signal: AbortSignal): Promise<Ended> {
    const { recordEvent, log } = this.#context
    if (says(cached, plan, DRY_RUN)) return undefined
    const read = await this.#readDue(cached, signal)
    if (!read.due) return read.ended
    const written = await this.#write(read.due.object, read.due.plan, DRY_RUN, signal)
    if (!written) return undefined
    const message = 'The lease has ended; the object would be deleted, but this is a dry run.'
    recordEvent(written, { type: 'Normal', reason: EVENT_REASONS.expired, message })
    log.info('lease expired, object kept in a dry run', {
      namespace: cached.metadata.namespace,
      name: cached.metadata.name,
    })
    return undefined
  }

  #write(object: Leased, plan: LeasePlan, status: string, signal: AbortSignal): Promise<Leased | undefined> {
    const { lease } = plan
    if (!lease || says(object, plan, status)) return Promise.resolve(undefined)
    return writeChanges(this.#context, object, { [lease.family.prefix + STATUS_ANNOTATIONS.status]: status }, signal)
  }
}

/** Whether more than a deletion is to be done. Most leases need nothing: one write and one delete are all they cost. */
function needsPreparation(object: Leased, plan: LeasePlan): boolean {
  if (!isReadyToDelete(object, plan)) return true
  return !plan.lease?.job && isStayingFor(object, plan) && !says(object, plan, DELETING)
}

/** Whether the object will be seen after its deletion: then it should say why it goes. */
function isStayingFor({ metadata }: Leased, { lease }: LeasePlan): boolean {
  return (metadata.finalizers?.length ?? 0) > 0 || lease?.propagation !== 'Background'
}

/** Whether it has that status. */
function says({ metadata }: Leased, { lease }: LeasePlan, status: string): boolean {
  return lease !== undefined && metadata.annotations?.[lease.family.prefix + STATUS_ANNOTATIONS.status] === status
}

function withoutServerTime(): TenureError {
  return new TenureError(
    'TENURE_EXPIRY_NO_SERVER_TIME',
    "The API server's answer has no Date header to confirm that the lease has ended; let the proxy in front of it pass that header on.",
    { fate: 'retry' },
  )
}
