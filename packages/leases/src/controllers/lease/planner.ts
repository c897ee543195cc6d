import type { Kind } from '@tenure/kube'
import type { LeaseSettings } from '../../api/types.ts'
import type { Leased } from './context.ts'
import { type LeasePlan, planLease } from './plan.ts'
import type { RollbackGuard } from './rollback-guard.ts'

/** Plans leases of one kind. Remembers the last plan: the handlers of one event ask for the same. */
export class LeasePlanner {
  readonly #kind: Kind
  readonly #settings: LeaseSettings
  readonly #rollbackGuard: RollbackGuard
  #last: { readonly object: Leased; readonly now: number; readonly plan: LeasePlan } | undefined

  constructor(kind: Kind, settings: LeaseSettings, rollbackGuard: RollbackGuard) {
    this.#kind = kind
    this.#settings = settings
    this.#rollbackGuard = rollbackGuard
  }

  planOf(object: Leased, now: number): LeasePlan {
    if (this.#last?.object === object && this.#last.now === now) return this.#last.plan
    const isRolledBack = this.#rollbackGuard.has(object, this.#settings)
    const plan = planLease(object, this.#settings, this.#kind.namespaced, now, isRolledBack)
    this.#last = { object, now, plan }
    return plan
  }
}
