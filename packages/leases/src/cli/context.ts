import type { Clock, KubeApi, RestMapper } from '@tenure/kube'
import type { LeaseFamily } from '../api/annotations.ts'

/** Dependencies of the commands. */
export interface LeaseCliContext {
  readonly api: KubeApi
  readonly kinds: Pick<RestMapper, 'kind' | 'groups'>
  readonly clock: Clock
  /** Used when the command line names none. */
  readonly namespace: string
  /** Default: the seed's and the newer family. */
  readonly families?: readonly LeaseFamily[]
  /** Writes whole lines to standard output. */
  readonly write: (text: string) => void
  /** Writes whole lines to standard error. */
  readonly warn: (text: string) => void
}

export interface LeaseCliOptions {
  readonly namespace?: string | undefined
  readonly allNamespaces?: boolean | undefined
  /** `update` or `never`. Default: as it is. */
  readonly renewOn?: string | undefined
  /** Default `table`. */
  readonly output?: string | undefined
  /** Kind names as kubectl accepts them. Default: all kinds. */
  readonly kinds?: readonly string[] | undefined
}
