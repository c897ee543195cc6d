import type { Kind, KubeObject, PartialObjectMetadata, Stored } from '@tenure/kube'
import type { EventContent, ManagerContext } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/annotations.ts'
import type { BroughtBack } from './rollback-guard.ts'
import type { ClockCheck } from './clock-skew.ts'
import type { LeaseMetrics } from '../../metrics.ts'
import type { LeasePlan } from './plan.ts'
import { planLease } from './plan.ts'
import type { Troubles } from './permission-tracker.ts'

export type Leased = Stored<PartialObjectMetadata>

/** What everything that works for one kind's leases shares. */
export interface Surroundings extends Pick<ManagerContext, 'api' | 'clock' | 'random' | 'log' | 'informers'> {
  /** Metadata only. */
  readonly kind: Kind<PartialObjectMetadata>
  readonly settings: LeaseSettings
  readonly metrics: LeaseMetrics
  readonly troubles: Troubles
  readonly clockCheck: ClockCheck
  readonly broughtBack: BroughtBack
  /** Writes an Event, in its turn. */
  readonly tell: (object: Stored<KubeObject>, event: EventContent) => void
}

export function planFor(
  { kind, settings, broughtBack }: Pick<Surroundings, 'kind' | 'settings' | 'broughtBack'>,
  object: Leased,
  now: number,
): LeasePlan {
  return planLease(object, settings, kind.namespaced, now, broughtBack.has(object, settings))
}
