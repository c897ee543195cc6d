import type { Kind } from '@tenure/kube'
import { LRUCache } from 'lru-cache'

import type { LeaseSettings } from '../../api/types.ts'
import type { Leased } from './context.ts'
import { type LeasePlan, planLease } from './plan.ts'
import type { RollbackGuard } from './rollback-guard.ts'
import { ageLimit } from './terms.ts'

/** Plans that are remembered: more than the objects that are in the queue, or being deleted, at once. */
const MAX_RECENT_PLANS = 1_024
/** Milliseconds before its end from which the plan of a lease is remembered. */
const MAX_REMAINING_MS = 60_000

interface RecentPlan {
  readonly resourceVersion: string
  readonly isRolledBack: boolean
  /** The plan holds from this time, and before `until`, in milliseconds since 1970. */
  readonly from: number
  readonly until: number
  readonly plan: LeasePlan
}

/**
 * Plans leases of one kind. Remembers recent plans: the handlers of an event, the reconcile after it and the live read
 * before a deletion all ask about the same version of an object.
 */
export class LeasePlanner {
  readonly #kind: Kind
  readonly #settings: LeaseSettings
  readonly #rollbackGuard: RollbackGuard
  /** By uid. */
  readonly #recent = new LRUCache<string, RecentPlan>({ max: MAX_RECENT_PLANS })
  /** The last plan, also of an object with nothing to do: the handlers of one event ask for it one after the other. */
  #last: (RecentPlan & { readonly uid: string }) | undefined

  constructor(kind: Kind, settings: LeaseSettings, rollbackGuard: RollbackGuard) {
    this.#kind = kind
    this.#settings = settings
    this.#rollbackGuard = rollbackGuard
  }

  planOf(object: Leased, now: number): LeasePlan {
    const { resourceVersion, uid } = object.metadata
    const isRolledBack = this.#rollbackGuard.has(object, this.#settings)
    const recent = this.#last?.uid === uid ? this.#last : this.#recent.get(uid)
    if (
      recent?.resourceVersion === resourceVersion &&
      recent.isRolledBack === isRolledBack &&
      recent.from <= now &&
      now < recent.until
    )
      return recent.plan
    const plan = planLease(object, this.#settings, this.#kind.namespaced, now, isRolledBack)
    const made = { uid, resourceVersion, isRolledBack, from: now, until: validUntil(object, plan, now), plan }
    this.#last = made
    if (isWorkAhead(plan, now)) this.#recent.set(uid, made)
    return plan
  }
}

/**
 * Whether the object will be planned again soon. Plans of the many objects with nothing to do are not kept: they would
 * outlive the young generation, and fill the old one with garbage while a large list is read.
 */
function isWorkAhead({ changes, lease }: LeasePlan, now: number): boolean {
  return Object.keys(changes).length > 0 || (lease !== undefined && lease.expireAt - MAX_REMAINING_MS <= now)
}

/** The time from which a plan of the same object may differ from one made at `now`. */
function validUntil(object: Leased, { isByAge, lease, startsNow }: LeasePlan, now: number): number {
  if (!lease) return Infinity
  // A lease that follows updates may start again at any time.
  const isRenewed = object.metadata.annotations?.[lease.family.names.renewOn] !== undefined
  if (startsNow || isRenewed) return now + 1
  const expiry = lease.expireAt > now ? lease.expireAt : Infinity
  return isByAge ? Math.min(expiry, ageLimit(object) + 1) : expiry
}
