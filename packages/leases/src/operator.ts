import type { Operator } from '@tenure/http'
import { defaultLeaseSettings, type GroupVersionKind, type LeaseSettings } from './api/types.ts'
import { createKindController, type KindController } from './controllers/lease/kind-controller.ts'

export interface LeasesOperatorOptions {
  /** Whose leases. */
  readonly kind: GroupVersionKind
  /** Default: `defaultLeaseSettings`. */
  readonly settings?: LeaseSettings
  /** Objects worked on at once. Default 32. */
  readonly concurrency?: number
  /** Told of the keeper of each term, before it starts. Default: nobody. */
  readonly onKeeper?: (keeper: KindController) => void
}

/** The operator that keeps the leases of one kind, on the leader. */
export function leasesOperator(options: LeasesOperatorOptions): Operator {
  const { kind, settings = defaultLeaseSettings, concurrency } = options
  return {
    name: 'leases',
    controllers: [],
    components: [
      {
        stage: 'lead',
        create(context) {
          const keeper = createKindController(context, {
            kind,
            settings,
            probe: true,
            ...(concurrency !== undefined && { concurrency }),
          })
          options.onKeeper?.(keeper)
          return keeper
        },
      },
    ],
    webhooks: [],
    routes: [],
  }
}
