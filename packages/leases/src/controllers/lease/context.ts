import type { Kind, KubeObject, PartialObjectMetadata, Stored } from '@tenure/kube'
import type { EventContent, ManagerContext } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import type { RollbackGuard } from './rollback-guard.ts'
import type { ClockSkew } from './clock-skew.ts'
import type { LeaseMetrics } from '../../metrics.ts'
import type { LeasePlan } from './plan.ts'
import { planLease } from './plan.ts'
import type { PermissionTracker } from './permission-tracker.ts'

export type Leased = Stored<PartialObjectMetadata>

/** Dependencies shared by everything that manages the leases of one kind. */
export interface LeaseContext extends Pick<ManagerContext, 'api' | 'clock' | 'random' | 'log' | 'informers'> {
  /** Metadata only. */
  readonly kind: Kind<PartialObjectMetadata>
  readonly settings: LeaseSettings
  readonly metrics: LeaseMetrics
  readonly permissions: PermissionTracker
  readonly clockSkew: ClockSkew
  readonly rollbackGuard: RollbackGuard
  /** Records an Event, rate-limited. */
  readonly recordEvent: (object: Stored<KubeObject>, event: EventContent) => void
}

export function planFor(
  { kind, settings, rollbackGuard }: Pick<LeaseContext, 'kind' | 'settings' | 'rollbackGuard'>,
  object: Leased,
  now: number,
): LeasePlan {
  return planLease(object, settings, kind.namespaced, now, rollbackGuard.has(object, settings))
}
