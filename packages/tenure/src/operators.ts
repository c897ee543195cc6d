import type { Operator } from '@tenure/runtime'

/** An operator that is loaded when it is needed: a command loads only its own. */
export interface OperatorEntry {
  /** The name of the operator and of its command. */
  readonly name: string
  load(): Promise<Operator>
}

/** The operators of `tenure start`, and of `tenure <name>` on a cluster. A new operator is one line here. */
export const operatorEntries: readonly OperatorEntry[] = [
  { name: 'applications', load: async () => (await import('@tenure/applications')).applications },
  { name: 'claims', load: async () => (await import('@tenure/claims')).claims },
  { name: 'databases', load: async () => (await import('@tenure/databases')).databases },
  { name: 'lease-controllers', load: async () => (await import('@tenure/leases')).leaseControllers },
]

/** Operators that run only on a cluster, one process each: a LeaseController deploys the leases of one kind. */
export const clusterOperatorEntries: readonly OperatorEntry[] = [
  { name: 'leases', load: async () => (await import('@tenure/leases/kind')).leases },
]
