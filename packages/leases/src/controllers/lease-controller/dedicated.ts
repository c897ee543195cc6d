import type { Operator } from '@tenure/http'
import { type ObjectRef, refOf, TenureError } from '@tenure/kube'
import type { KindController } from '../lease/kind-controller.ts'
import { leasesOperator, type LeasesOperatorOptions } from '../../operator.ts'
import { createLeaseReporter } from './reporter.ts'

export interface DedicatedLeasesOptions extends LeasesOperatorOptions {
  /** The Lease in which to say what is kept; see `reportLease`. */
  readonly report: ObjectRef
}

/** Keeps the leases of one kind as a LeaseController's Deployment does: and tells the operator how it is going. */
export function dedicatedLeasesOperator(options: DedicatedLeasesOptions): Operator {
  const { report, ...rest } = options
  let keeper: KindController | undefined
  const operator = leasesOperator({
    ...rest,
    onKeeper: (made) => {
      keeper = made
      rest.onKeeper?.(made)
    },
  })
  const nothing = { activeLeases: 0, nextExpiry: undefined, problem: undefined }
  return {
    ...operator,
    components: [
      ...operator.components,
      {
        stage: 'lead',
        create: (context) => createLeaseReporter(context, { lease: report, read: () => keeper ?? nothing }),
      },
    ],
  }
}

/** Reads `namespace/name`, as the operator writes it into `LEASE_REPORT`. */
export function reportLease(text: string): ObjectRef {
  if (/^[^/\s]+\/[^/\s]+$/.test(text)) return refOf(text)
  throw new TenureError('TENURE_LEASE_REPORT', `LEASE_REPORT must name a Lease as namespace/name, not "${text}".`)
}
