import type { Clock, Client, ConnectionConfig, Random, RestMapper } from '@tenure/kube'
import type { LeaseCliContext } from '@tenure/leases/cli'
import type { Terminal } from '@tenure/runtime/cli'

/** Dependencies of the commands that look at a cluster. */
export interface ClusterContext {
  readonly api: Client
  readonly kinds: RestMapper
  readonly config: ConnectionConfig
  readonly clock: Clock
  readonly random: Random
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
  /** Ends commands that watch. */
  readonly signal: AbortSignal
  /** The annotations of leases. */
  readonly families: NonNullable<LeaseCliContext['families']>
  /** The cluster is the one of `npm start` in the working directory. */
  readonly isLocal: boolean
  /** Writes whole lines to standard output. */
  readonly write: (text: string) => void
  /** Writes whole lines to standard error. */
  readonly warn: (text: string) => void
  /** The lines that were written to standard error, which take room on a screen. */
  readonly warnings: readonly string[]
}

/** Options of the commands that look at a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string | undefined
  /** A context of the kubeconfig. */
  readonly context?: string | undefined
  /** The PostgreSQL with the rows of databases. Default: as `tenure db` finds it. */
  readonly databaseUrl?: string | undefined
  readonly namespace?: string | undefined
  readonly allNamespaces?: boolean | undefined
  /** `app=web`. Default: all objects. */
  readonly selector?: string | undefined
  /** Default `table`. */
  readonly output?: string | undefined
  /** Shows changes as they happen. Default false. */
  readonly watch?: boolean | undefined
  /** Events about objects of this kind, or of this name. Default: all. */
  readonly kind?: string | undefined
  readonly name?: string | undefined
  /** Events of this type. Default: all. */
  readonly type?: string | undefined
  /** Events that are not older than this duration. Default: all. */
  readonly since?: string | undefined
}
