import { applications } from '@tenure/applications'
import { claims } from '@tenure/claims'
import { leaseControllers, leases } from '@tenure/leases'
import type { Operator } from '@tenure/runtime'

/** The operators of `tenure start`, and of `tenure <name>` on a cluster. A new operator is one line here. */
export const operators: readonly Operator[] = [applications, claims, leaseControllers]

/** Operators that run only on a cluster, one process each: a LeaseController deploys the leases of one kind. */
export const clusterOperators: readonly Operator[] = [leases]
