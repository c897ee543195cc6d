import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { ApiError, isAlreadyExists, type PartialObjectMetadata } from '@tenure/kube'
import { Event } from '@tenure/kube/kinds'
import { type Cache, QueueWorker } from '@tenure/runtime'
import { EVENT_REASONS } from '../../api/reasons.ts'
import type { Leased, LeaseContext } from './context.ts'

import { formatTime, parseTime } from '../../api/time.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { EventLimiter } from './event-limiter.ts'
import type { DatedLease } from './terms.ts'

const MAX_NAME_LENGTH = 253
const MAX_INSTANCE_LENGTH = 128
const CONCURRENCY = 2
const BACKOFF = { base: 500, max: 30_000 }

export interface ExpiryWarningsOptions {
  readonly name: string
  readonly context: LeaseContext
  readonly cache: Cache<PartialObjectMetadata>
  /** Whether more important work is in progress. */
  readonly isBusy: () => boolean
}

/** Warns of expiries, once for each, rate-limited. A warning that would come after the expiry is dropped. */
export class ExpiryWarnings {
  readonly #context: LeaseContext
  readonly #cache: Cache<PartialObjectMetadata>
  readonly #limiter: EventLimiter
  readonly #worker: QueueWorker
  /** The expiry of the last warning, by key. */
  readonly #warned = new Map<string, number>()

  constructor({ cache, context, isBusy, name }: ExpiryWarningsOptions) {
    const { clock, log } = context
    this.#context = context
    this.#cache = cache
    this.#limiter = new EventLimiter({ clock, isBusy })
    this.#worker = new QueueWorker({
      name,
      clock,
      log,
      concurrency: CONCURRENCY,
      backoff: BACKOFF,
      work: (key, { signal }) => this.#warn(key, signal),
    })
  }

  has(key: string, expireAt: number): boolean {
    return this.#warned.get(key) === expireAt
  }

  /** Warns of the expiry of an object. */
  add(key: string): void {
    this.#worker.add(key)
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#warned.delete(key)
    this.#worker.forget(key)
  }

  async start(): Promise<void> {
    await this.#worker.start()
  }

  async stop(grace: number): Promise<void> {
    this.#limiter.close()
    await this.#worker.stop(grace)
  }

  async #warn(key: string, signal: AbortSignal): Promise<void> {
    const { clock, namespaces } = this.#context
    const now = clock.now()
    const object = this.#cache.getByKey(key)
    if (!object || !namespaces.has(object.metadata.namespace)) return
    const { lease } = this.#context.planOf(object, now)
    if (!lease || lease.expireAt <= now || this.has(key, lease.expireAt)) return
    this.#warned.set(key, lease.expireAt)
    try {
      if (await this.#turn(lease.expireAt)) await warnOfExpiry(this.#context, object, lease, signal)
    } catch (error) {
      this.#warned.delete(key)
      throw error
    }
  }

  /** Resolves when the rate allows the next warning; to false if that is after `until`. */
  #turn(until: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#limiter.add(
        () => resolve(true),
        until,
        () => resolve(false),
      )
    })
  }
}

/**
 * A lower bound of the time of a warning, from the date on the object alone: cheaper than a plan, for a start with many
 * leases. Undefined if the date is the same as on `old`, or there is none.
 */
export function earliestWarning(
  { metadata }: Leased,
  old: Leased | undefined,
  { families, expiryWarning }: LeaseSettings,
): number | undefined {
  if (expiryWarning.fraction <= 0) return undefined
  for (const { names } of families) {
    const name = names.expireAt
    const text = metadata.annotations?.[name]
    if (text === undefined) continue
    const expireAt = text === old?.metadata.annotations?.[name] ? undefined : parseTime(text)
    return expireAt === undefined ? undefined : expireAt - expiryWarning.atMost
  }
  return undefined
}

/**
 * Records an Event that warns of the coming expiry. Its name is derived from the expiry, so that a restarted controller
 * does not record it twice.
 */
async function warnOfExpiry(
  { api, clock, identity, settings }: LeaseContext,
  object: Leased,
  lease: DatedLease,
  signal: AbortSignal,
): Promise<void> {
  const note = `The lease ends at ${formatTime(lease.expireAt)}; ${consequence(lease, settings)}`
  try {
    await api.create(Event, expiryWarningEvent(object, lease, note, { now: clock.now(), reporter: identity.name }), {
      signal,
    })
  } catch (error) {
    if (isAlreadyExists(error)) return
    // The warning is optional: it is not retried if the server refuses it or the namespace is terminating.
    if (error instanceof ApiError && error.status < 500 && error.status !== 429) return
    throw error
  }
}

function consequence({ propagation, job }: DatedLease, { dryRun }: LeaseContext['settings']): string {
  if (dryRun) return 'the object would be deleted then, but this is a dry run.'
  if (job?.ok === false && job.onFailure === 'keep') return 'the object is kept then: the cleanup job cannot be run.'
  return `the object is deleted then (${propagation}). Extend the lease to keep it.`
}

function expiryWarningEvent(
  object: Leased,
  { expireAt }: DatedLease,
  note: string,
  { now, reporter }: { readonly now: number; readonly reporter: string },
): Event {
  const { metadata } = object
  const time = new Date(now).toISOString().replace('Z', '000Z')
  return {
    metadata: {
      name: nameOf(metadata.name, metadata.uid, formatTime(expireAt)),
      namespace: metadata.namespace ?? 'default',
    },
    eventTime: time,
    reportingController: reporter,
    reportingInstance: hostname().slice(0, MAX_INSTANCE_LENGTH),
    type: 'Normal',
    reason: EVENT_REASONS.expiring,
    action: EVENT_REASONS.expiring,
    note,
    regarding: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name: metadata.name,
      uid: metadata.uid,
      ...(metadata.namespace && { namespace: metadata.namespace }),
    },
  }
}

function nameOf(name: string, uid: string, end: string): string {
  const unique = hash('sha256', JSON.stringify([uid, end]), 'hex').slice(0, 16)
  const readable = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, MAX_NAME_LENGTH - unique.length - 1)
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  // Each DNS label must be non-empty and must not begin or end with a dash.
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(readable)
    ? `${readable}.${unique}`
    : unique
}
