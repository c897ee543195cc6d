import type { Clock, KubeApi, RestMapper } from '@tenure/kube'
import type { LeaseFamily } from '../api/annotations.ts'

/** What the commands work with. */
export interface LeaseCliContext {
  readonly api: KubeApi
  readonly kinds: Pick<RestMapper, 'kind' | 'groups'>
  readonly clock: Clock
  /** Of objects for which none is named. */
  readonly namespace: string
  /** Default: the seed's and the newer. */
  readonly families?: readonly LeaseFamily[]
  /** Called with whole lines, for standard output. */
  readonly write: (text: string) => void
  /** The same for what is no result: standard error. */
  readonly warn: (text: string) => void
}

export interface LeaseCliOptions {
  readonly namespace?: string | undefined
  readonly allNamespaces?: boolean | undefined
  /** Default `table`. */
  readonly output?: string | undefined
  /** Names as kubectl takes them. Default: all kinds. */
  readonly kinds?: readonly string[] | undefined
}
