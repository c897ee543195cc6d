import type { Clock, KubeObject } from '@tenure/kube'
import type { Storage } from '../../storage/types.ts'
import { amountsAt, only, sum, whole } from './amounts.ts'
import type { Amounts } from './amounts.ts'
import { bucketOf, isInScope, isUsedBy, usageOf } from './usage.ts'

/** Milliseconds after which an object that was booked and is not there will not come any more. */
export const BOOKED_FOR = 5_000

interface Booking {
  readonly bucket: string
  /** Of the object. */
  readonly key: string
  readonly amounts: Amounts
  /** On the monotonic clock. */
  readonly at: number
}

/** What is used of quotas: what is stored, and what was admitted and is on its way there. */
export class QuotaLedger {
  readonly #storage: Storage
  readonly #clock: Clock
  /** By the key of the quota. */
  readonly #bookings = new Map<string, readonly Booking[]>()

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage
    this.#clock = clock
  }

  book(quota: string, booking: Omit<Booking, 'at'>): void {
    const at = this.#clock.monotonic()
    this.#bookings.set(quota, [...this.#open(quota), { ...booking, at }])
  }

  /** All that counts for a quota. */
  used(quota: KubeObject): Amounts {
    const { namespace, name } = quota.metadata ?? {}
    const now = this.#clock.now()
    const resources = [...amountsAt(quota, 'spec.hard').keys()]
    const parts: Amounts[] = [new Map(resources.map((resource) => [resource, whole(0)]))]
    for (const bucket of new Set(resources.map(bucketOf))) {
      const wanted = resources.filter((resource) => isUsedBy(bucket, resource))
      for (const { object } of this.#storage.range(bucket, { namespace })) {
        if (isInScope(quota, bucket, object)) parts.push(only(usageOf(bucket, object, now), wanted))
      }
    }
    for (const { amounts } of this.#open(`${namespace}/${name}`)) parts.push(only(amounts, resources))
    return sum(...parts)
  }

  /** Those whose object has not come yet. */
  #open(quota: string): readonly Booking[] {
    const known = this.#bookings.get(quota)
    if (!known) return []
    const now = this.#clock.monotonic()
    const open = known.filter(({ bucket, key, at }) => now - at < BOOKED_FOR && !this.#storage.get(bucket, key))
    if (open.length === 0) this.#bookings.delete(quota)
    else this.#bookings.set(quota, open)
    return open
  }
}
