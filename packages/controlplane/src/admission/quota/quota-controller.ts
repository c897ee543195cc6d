import type { Clock, Timer } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import type { Storage } from '../../storage/types.ts'
import { amountsAt } from './amounts.ts'
import { BOOKED_FOR } from './quota-usage.ts'
import type { QuotaLedger } from './quota-usage.ts'
import { QUOTAS, withStatus } from './resource-quotas.ts'
import { bucketOf } from './usage.ts'

export interface QuotaKeeperOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Logger
  readonly ledger: QuotaLedger
}

/** Milliseconds after which what was booked for an object that then was not stored is noticed. */
const SECOND_LOOK = BOOKED_FOR + 1

/**
 * Keeps what ResourceQuotas say is used true: counts when one is new or changes, when something that counts comes, goes
 * or changes, and once more a while after something was booked. Returns what ends that.
 */
export function keepQuotas(options: QuotaKeeperOptions): () => void {
  const keeper = new QuotaKeeper(options)
  keeper.start()
  return () => keeper.stop()
}

class QuotaKeeper {
  readonly #options: QuotaKeeperOptions
  /** By the bucket that is watched. */
  readonly #watches = new Map<string, () => void>()
  /** Keys of quotas that wait for their second look. */
  readonly #later = new Map<string, Timer>()
  readonly #counting = new Map<string, 'once' | 'again'>()
  #isStopped = false

  constructor(options: QuotaKeeperOptions) {
    this.#options = options
  }

  start(): void {
    const { storage } = this.#options
    for (const { key, object } of storage.range(QUOTAS)) this.#noticed(key, object)
    this.#watches.set(
      QUOTAS,
      storage.watch(QUOTAS, storage.revision, ({ key, current }) => {
        if (current) this.#noticed(key, current.object)
      }),
    )
  }

  stop(): void {
    this.#isStopped = true
    for (const end of this.#watches.values()) end()
    for (const timer of this.#later.values()) timer.cancel()
    this.#watches.clear()
    this.#later.clear()
  }

  #noticed(key: string, quota: object): void {
    for (const resource of amountsAt(quota, 'spec.hard').keys()) this.#follow(bucketOf(resource))
    this.#count(key)
    if (this.#later.has(key)) return
    const timer = this.#options.clock.setTimer(SECOND_LOOK, () => {
      this.#later.delete(key)
      this.#count(key)
    })
    this.#later.set(key, timer)
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

  /** One at a time for each: what changes meanwhile is counted once, afterwards. */
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
    const { storage, ledger, log } = this.#options
    if (!storage.get(QUOTAS, key)) return
    try {
      await storage.write(QUOTAS, key, (current) => {
        if (!current) throw new Gone()
        const hard = amountsAt(current.object, 'spec.hard')
        const next = withStatus(current.object, hard, ledger.used(current.object))
        return next === current.object ? { keep: true } : { put: next }
      })
    } catch (error) {
      if (!(error instanceof Gone) && !this.#isStopped) log.warn('could not count what a quota limits', { error })
    }
  }
}

class Gone extends Error {}
