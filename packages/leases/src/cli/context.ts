import type { Clock, Kind, KubeApi, KubeObject, RestMapper, Selection, Stored } from '@tenure/kube'
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
  /** Kind names as kubectl accepts them. Default: all kinds. */
  readonly kinds?: readonly string[] | undefined
}
