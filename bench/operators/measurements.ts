import type { Row } from '../rows.ts'
import { applicationRows, unhurriedApplicationRows } from './applications.ts'
import type { OperatorContext } from './applications.ts'
import { leaseRows, manyLeaseRows } from './leases.ts'

export interface OperatorMeasurement {
  readonly name: string
  rows(context: OperatorContext): Promise<readonly Row[]>
}

export const operatorMeasurements: readonly OperatorMeasurement[] = [
  { name: 'operators: applications', rows: applicationRows },
  { name: 'operators: unhurried applications', rows: unhurriedApplicationRows },
  { name: 'operators: leases', rows: leaseRows },
  { name: 'operators: 100,000 leases', rows: manyLeaseRows },
]
