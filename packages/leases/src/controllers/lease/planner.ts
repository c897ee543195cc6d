import type { Kind } from '@tenure/kube'
import { LRUCache } from 'lru-cache'
import { USER_ANNOTATIONS } from '../../api/annotations.ts'
import type { LeaseSettings } from '../../api/types.ts'
import type { Leased } from './context.ts'
import { type LeasePlan, planLease } from './plan.ts'
import type { RollbackGuard } from './rollback-guard.ts'
import { ageLimit } from './terms.ts'

/** Plans that are remembered: more than the objects that are in the queue, or being deleted, at once. */
const MAX_RECENT_PLANS = 1_024

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

  constructor(kind: Kind, settings: LeaseSettings, rollbackGuard: RollbackGuard) {
    this.#kind = kind
    this.#settings = settings
    this.#rollbackGuard = rollbackGuard
  }

  planOf(object: Leased, now: number): LeasePlan {
    const { resourceVersion, uid } = object.metadata
    const isRolledBack = this.#rollbackGuard.has(object, this.#settings)
    const recent = this.#recent.get(uid)
    if (
      recent?.resourceVersion === resourceVersion &&
      recent.isRolledBack === isRolledBack &&
      recent.from <= now &&
      now < recent.until
    )
      return recent.plan
    const plan = planLease(object, this.#settings, this.#kind.namespaced, now, isRolledBack)
    this.#recent.set(uid, { resourceVersion, isRolledBack, from: now, until: validUntil(object, plan, now), plan })
    return plan
  }
}

/** The time from which a plan of the same object may differ from one made at `now`. */
function validUntil(object: Leased, { isByAge, lease, startsNow }: LeasePlan, now: number): number {
  if (!lease) return Infinity
  // A lease that follows updates may start again at any time.
  const isRenewed = object.metadata.annotations?.[lease.family.prefix + USER_ANNOTATIONS.renewOn] !== undefined
  if (startsNow || isRenewed) return now + 1
  const expiry = lease.expireAt > now ? lease.expireAt : Infinity
  return isByAge ? Math.min(expiry, ageLimit(object) + 1) : expiry
}
