import type { Row } from '../rows.ts'
import { applicationRows, rateLimitedApplicationRows } from './applications.ts'
import type { OperatorContext } from './applications.ts'
import { claimRows } from './claims.ts'
import { leaseRows, manyLeaseRows } from './leases.ts'

export interface OperatorMeasurement {
  readonly name: string
  rows(context: OperatorContext): Promise<readonly Row[]>
}

export const operatorMeasurements: readonly OperatorMeasurement[] = [
  { name: 'operators: applications', rows: applicationRows },
  { name: 'operators: rate-limited applications', rows: rateLimitedApplicationRows },
  { name: 'operators: claims', rows: claimRows },
  { name: 'operators: leases', rows: leaseRows },
  { name: 'operators: 100,000 leases', rows: manyLeaseRows },
]
