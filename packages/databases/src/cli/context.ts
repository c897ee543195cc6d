import type { Clock, Random } from '@tenure/kube'
import type { PollContext } from '@tenure/runtime/cli'

/** Dependencies of the commands. */
export interface DbCliContext extends Pick<PollContext, 'signal' | 'terminal'> {
  readonly clock: Clock
  readonly random: Random
  /** DATABASE_URL, the DB_ variables and TENURE_DATA are read from it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Writes whole lines to standard output: results. */
  readonly write: (text: string) => void
  /** Writes whole lines to standard error: progress, warnings and failures. */
  readonly warn: (text: string) => void
}

export interface DbCliOptions {
  /** Default: DATABASE_URL, then the DB_ variables, then the file that `npm start` writes. */
  readonly databaseUrl?: string | undefined
  readonly team?: string | undefined
  readonly type?: string | undefined
  readonly version?: string | undefined
  readonly replicas?: string | undefined
  readonly storage?: string | undefined
  /** `key=value`, with types as Helm's `--set` infers them. */
  readonly set?: readonly string[] | undefined
  readonly deleteData?: boolean | undefined
  readonly all?: boolean | undefined
  /** False with `--no-wait`. */
  readonly wait?: boolean | undefined
  /** A duration. */
  readonly timeout?: string | undefined
  readonly output?: string | undefined
  /** Shows changes as they happen. Default false. */
  readonly watch?: boolean | undefined
}
