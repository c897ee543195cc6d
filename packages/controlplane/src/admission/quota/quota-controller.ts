import type { Clock } from '@tenure/kube'
import { type Logger, QueueWorker } from '@tenure/runtime'
import type { Storage } from '../../storage/types.ts'
import { amountsAt } from './amounts.ts'
import { RESERVATION_TIMEOUT_MS } from './quota-usage.ts'
import type { QuotaUsage } from './quota-usage.ts'
import { QUOTAS, withStatus } from './resource-quotas.ts'
import { bucketOf } from './usage.ts'

export interface QuotaControllerOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Logger
  readonly usage: QuotaUsage
}

/** Milliseconds until a quota is counted again, to drop reservations whose object was not stored. */
const RECOUNT_DELAY_MS = RESERVATION_TIMEOUT_MS + 1
/** Prefix of the key of a delayed recount: the queue holds a key once, and the first count must not wait. */
const RECOUNT = 'recount:'

/**
 * Keeps `status.used` of ResourceQuotas current: counts when a quota or a counted object changes, and again after
 * reservations lapse. Returns a function that stops it.
 */
export function startQuotaController(options: QuotaControllerOptions): () => Promise<void> {
  const controller = new QuotaController(options)
  controller.start()
  return () => controller.stop()
}

class QuotaController {
  readonly #options: QuotaControllerOptions
  readonly #worker: QueueWorker
  /** Unsubscribe functions, keyed by bucket. */
  readonly #watches = new Map<string, () => void>()

  constructor(options: QuotaControllerOptions) {
    this.#options = options
    const { clock, log } = options
    this.#worker = new QueueWorker({
      name: 'resourcequota',
      clock,
      log,
      work: (key) => this.#count(key.startsWith(RECOUNT) ? key.slice(RECOUNT.length) : key),
    })
  }

  start(): void {
    const { storage } = this.#options
    for (const { key, object } of storage.range(QUOTAS)) this.#onQuota(key, object)
    this.#watches.set(
      QUOTAS,
      storage.watch(QUOTAS, storage.revision, ({ key, current }) => {
        if (current) this.#onQuota(key, current.object)
      }),
    )
    void this.#worker.start()
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#watches.values()) unsubscribe()
    this.#watches.clear()
    await this.#worker.stop(0)
  }

  #onQuota(key: string, quota: object): void {
    for (const resource of amountsAt(quota, 'spec', 'hard').keys()) this.#follow(bucketOf(resource))
    this.#worker.add(key)
    this.#worker.add(`${RECOUNT}${key}`, { after: RECOUNT_DELAY_MS })
  }

  #follow(bucket: string): void {
    if (this.#watches.has(bucket)) return
    const { storage } = this.#options
    const unsubscribe = storage.watch(bucket, storage.revision, ({ key }) => {
      const namespace = key.slice(0, Math.max(key.indexOf('/'), 0))
      if (storage.count(QUOTAS, namespace) === 0) return
      for (const quota of storage.range(QUOTAS, { namespace })) this.#worker.add(quota.key)
    })
    this.#watches.set(bucket, unsubscribe)
  }

  async #count(key: string): Promise<void> {
    const { storage, usage } = this.#options
    if (!storage.get(QUOTAS, key)) return
    try {
      await storage.write(QUOTAS, key, (current) => {
        if (!current) throw new QuotaNotFound()
        const hard = amountsAt(current.object, 'spec', 'hard')
        const next = withStatus(current.object, hard, usage.used(current.object))
        return next === current.object ? { keep: true } : { put: next }
      })
    } catch (error) {
      if (!(error instanceof QuotaNotFound)) throw error
    }
  }
}

class QuotaNotFound extends Error {}
