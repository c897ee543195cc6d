import type { Kind, KubeObject, PartialObjectMetadata, Stored } from '@tenure/kube'
import type { EventContent, OperatorContext } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import type { LeaseMetrics } from '../../metrics.ts'
import type { NamespaceFilter } from './namespace-filter.ts'
import type { LeasePlan } from './plan.ts'

export type Leased = Stored<PartialObjectMetadata>

/** Dependencies shared by everything that manages the leases of one kind. */
export interface LeaseContext extends Pick<
  OperatorContext,
  'api' | 'clock' | 'random' | 'log' | 'informers' | 'identity'
> {
  /** Metadata only. */
  readonly kind: Kind<PartialObjectMetadata>
  readonly settings: LeaseSettings
  readonly metrics: LeaseMetrics
  readonly namespaces: NamespaceFilter
  /** Plans the lease of an object at a time, in milliseconds since 1970. */
  planOf(object: Leased, now: number): LeasePlan
  /** Records an Event, rate-limited. */
  recordEvent(object: Stored<KubeObject>, event: EventContent): void
}
