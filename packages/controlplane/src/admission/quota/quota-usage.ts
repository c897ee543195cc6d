import type { Clock, KubeObject } from '@tenure/kube'
import type { Storage } from '../../storage/types.ts'
import { amountsAt, only, sum, whole } from './amounts.ts'
import type { Amounts } from './amounts.ts'
import { bucketOf, isInScope, isUsedBy, usageOf } from './usage.ts'

/** Milliseconds after which a reservation lapses if its object was not stored. */
export const RESERVATION_TIMEOUT_MS = 5_000

interface Reservation {
  readonly bucket: string
  /** Key of the object. */
  readonly key: string
  readonly amounts: Amounts
  /** Milliseconds on the monotonic clock. */
  readonly at: number
}

/** Computes the usage of quotas from stored objects and from reservations for admitted objects that are not stored yet. */
export class QuotaUsage {
  readonly #storage: Storage
  readonly #clock: Clock
  /** Keyed by quota. */
  readonly #reservations = new Map<string, readonly Reservation[]>()

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage
    this.#clock = clock
  }

  reserve(quota: string, reservation: Omit<Reservation, 'at'>): void {
    const at = this.#clock.monotonic()
    this.#reservations.set(quota, [...this.#open(quota), { ...reservation, at }])
  }

  used(quota: KubeObject): Amounts {
    const { namespace, name } = quota.metadata ?? {}
    const now = this.#clock.now()
    const resources = [...amountsAt(quota, 'spec', 'hard').keys()]
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

  /** Reservations whose object is not stored yet. */
  #open(quota: string): readonly Reservation[] {
    const known = this.#reservations.get(quota)
    if (!known) return []
    const now = this.#clock.monotonic()
    const open = known.filter(
      ({ bucket, key, at }) => now - at < RESERVATION_TIMEOUT_MS && !this.#storage.get(bucket, key),
    )
    if (open.length === 0) this.#reservations.delete(quota)
    else this.#reservations.set(quota, open)
    return open
  }
}
