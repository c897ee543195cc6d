import type { Row } from '../rows.ts'
import { applicationRows, rateLimitedApplicationRows } from './applications.ts'
import type { OperatorContext } from './applications.ts'
import { claimBurstRows, claimLoopRows, claimRows, claimThroughputRows, embeddedClaimRows } from './claims.ts'
import { databaseRows, manyDatabaseRows } from './databases.ts'
import { leaseRows, manyLeaseRows } from './leases.ts'

export interface OperatorMeasurement {
  readonly name: string
  rows(context: OperatorContext): Promise<readonly Row[]>
}

export const operatorMeasurements: readonly OperatorMeasurement[] = [
  { name: 'operators: applications', rows: applicationRows },
  { name: 'operators: rate-limited applications', rows: rateLimitedApplicationRows },
  { name: 'operators: claims, one by one', rows: claimRows },
  { name: 'operators: claims, open loop', rows: claimLoopRows },
  { name: 'operators: claims, burst', rows: claimBurstRows },
  { name: 'operators: claims, throughput', rows: claimThroughputRows },
  { name: 'operators: claims, embedded', rows: embeddedClaimRows },
  { name: 'operators: databases', rows: databaseRows },
  { name: 'operators: 10,000 databases', rows: manyDatabaseRows },
  { name: 'operators: leases', rows: leaseRows },
  { name: 'operators: 100,000 leases', rows: manyLeaseRows },
]
