import type { Operator } from '@tenure/runtime'
import type { HelpEntry } from '@tenure/runtime/cli'

/** An operator that is loaded when it is needed: a command loads only its own. */
export interface OperatorEntry {
  /** The name of the operator and of its command. */
  readonly name: string
  /** For the help of its command. */
  readonly examples?: readonly HelpEntry[]
  load(): Promise<Operator>
}

/** The operators of `tenure start`, and of `tenure <name>` on a cluster. A new operator is one line here. */
export const operatorEntries: readonly OperatorEntry[] = [
  {
    name: 'applications',
    examples: [
      {
        term: 'tenure applications --no-webhooks',
        meaning: 'Run it from this machine, on the cluster of the kubeconfig.',
      },
    ],
    load: async () => (await import('@tenure/applications')).applications,
  },
  {
    name: 'claims',
    examples: [
      {
        term: 'tenure claims --namespace previews --pre-provision-claims-count 5',
        meaning: 'Keep five claims ready in a namespace.',
      },
    ],
    load: async () => (await import('@tenure/claims')).claims,
  },
  {
    name: 'databases',
    examples: [
      {
        term: 'DB_PASSWORD=… tenure databases --db-host db.example --db-user nest',
        meaning: 'Run the databases of this PostgreSQL server.',
      },
    ],
    load: async () => (await import('@tenure/databases')).databases,
  },
  {
    name: 'lease-controllers',
    examples: [
      {
        term: 'tenure lease-controllers --lease-controller-mode shared',
        meaning: 'Run all lease controllers in this process.',
      },
    ],
    load: async () => (await import('@tenure/leases')).leaseControllers,
  },
]

/** Operators that run only on a cluster, one process each: a LeaseController deploys the leases of one kind. */
export const clusterOperatorEntries: readonly OperatorEntry[] = [
  {
    name: 'leases',
    examples: [
      {
        term: 'tenure leases --group apps --version v1 --kind Deployment',
        meaning: 'Delete Deployments when their TTL has passed.',
      },
    ],
    load: async () => (await import('@tenure/leases/kind')).leases,
  },
]
