import type { Clock, Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
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

/**
 * Keeps `status.used` of ResourceQuotas current: counts when a quota or a counted object changes, and again after
 * reservations lapse. Returns a function that stops it.
 */
export function startQuotaController(options: QuotaControllerOptions): () => void {
  const controller = new QuotaController(options)
  controller.start()
  return () => controller.stop()
}

class QuotaController {
  readonly #options: QuotaControllerOptions
  /** Unsubscribe functions, keyed by bucket. */
  readonly #watches = new Map<string, () => void>()
  /** Pending recounts, keyed by quota. */
  readonly #recounts = new Map<string, Timer>()
  readonly #counting = new Map<string, 'once' | 'again'>()
  #isStopped = false

  constructor(options: QuotaControllerOptions) {
    this.#options = options
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
  }

  stop(): void {
    this.#isStopped = true
    for (const end of this.#watches.values()) end()
    for (const timer of this.#recounts.values()) timer.cancel()
    this.#watches.clear()
    this.#recounts.clear()
  }

  #onQuota(key: string, quota: object): void {
    for (const resource of amountsAt(quota, 'spec', 'hard').keys()) this.#follow(bucketOf(resource))
    this.#count(key)
    if (this.#recounts.has(key)) return
    const timer = this.#options.clock.setTimer(RECOUNT_DELAY_MS, () => {
      this.#recounts.delete(key)
      this.#count(key)
    })
    this.#recounts.set(key, timer)
  }

  #follow(bucket: string): void {
    if (this.#watches.has(bucket)) return
    const { storage } = this.#options
    const end = storage.watch(bucket, storage.revision, ({ key }) => {
      const namespace = key.slice(0, Math.max(key.indexOf('/'), 0))
      if (storage.count(QUOTAS, namespace) === 0) return
      for (const quota of storage.range(QUOTAS, { namespace })) this.#count(quota.key)
    })
    this.#watches.set(bucket, end)
  }

  /** Never runs twice at once for a quota; changes during a count lead to one more count. */
  #count(key: string): void {
    if (this.#isStopped) return
    if (this.#counting.has(key)) {
      this.#counting.set(key, 'again')
      return
    }
    void this.#countUntilTrue(key)
  }

  async #countUntilTrue(key: string): Promise<void> {
    do {
      this.#counting.set(key, 'once')
      await this.#write(key)
    } while (this.#counting.get(key) === 'again' && !this.#isStopped)
    this.#counting.delete(key)
  }

  async #write(key: string): Promise<void> {
    const { storage, usage, log } = this.#options
    if (!storage.get(QUOTAS, key)) return
    try {
      await storage.write(QUOTAS, key, (current) => {
        if (!current) throw new QuotaNotFound()
        const hard = amountsAt(current.object, 'spec', 'hard')
        const next = withStatus(current.object, hard, usage.used(current.object))
        return next === current.object ? { keep: true } : { put: next }
      })
    } catch (error) {
      if (!(error instanceof QuotaNotFound) && !this.#isStopped)
        log.warn('updating quota status failed', { quota: key, error })
    }
  }
}

class QuotaNotFound extends Error {}
