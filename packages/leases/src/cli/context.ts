import type { Clock, Kind, KubeApi, KubeObject, RestMapper, Selection, Stored } from '@tenure/kube'
import type { FollowOptions, PollContext } from '@tenure/runtime/cli'
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
  /** Lists objects. Default: from the API server, page by page. */
  readonly pages?: <T extends KubeObject>(kind: Kind<T>, selection: Selection) => AsyncIterable<readonly Stored<T>[]>
  /** Objects as watches show them, for `-w`. Default: they are listed again at intervals. */
  readonly live?: Pick<FollowOptions, 'changed'> & { readonly pages: NonNullable<LeaseCliContext['pages']> }
  /** Default: the output is not a terminal, and nothing ends `-w`. */
  readonly follow?: Pick<PollContext, 'signal' | 'terminal'>
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
  /** `app=web`. Default: all objects. */
  readonly selector?: string | undefined
  /** Default `table`. */
  readonly output?: string | undefined
  /** Shows changes as they happen. Default false. */
  readonly watch?: boolean | undefined
  /** Kind names as kubectl accepts them. Default: all kinds. */
  readonly kinds?: readonly string[] | undefined
}
