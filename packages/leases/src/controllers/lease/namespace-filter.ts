import { metadataOf, type PartialObjectMetadata, TenureError } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import type { Informer, Informers } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import { isDnsName } from '../../dns-name.ts'

/** The namespaces whose objects are managed: all, or those with a label, live. */
export interface NamespaceFilter {
  /** Whether objects of this namespace are managed. */
  has(namespace: string | undefined): boolean
  /** Throws if that can not be told now: labels may have changed while nobody looked. */
  check(): void
  whenSynced(signal: AbortSignal): Promise<void>
  readonly problem: string | undefined
  /** Calls `handler` when a namespace comes or goes. Returns what ends that. */
  onChange(handler: (namespace: string) => void): () => void
}

const LABEL_WORD = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** ConditionReason this is no label that a namespace can have; as a selector it might well mean others: `!protected`, `a,b`. */
export function optInProblem({ key, value }: NonNullable<LeaseSettings['optIn']>): string | undefined {
  const slash = key.indexOf('/')
  const [domain, name] = slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)]
  if ((domain !== undefined && !isDnsName(domain)) || !LABEL_WORD.test(name))
    return `${JSON.stringify(key)} is not the name of a label`
  if (value && !LABEL_WORD.test(value)) return `${JSON.stringify(value)} is not the value of a label`
  return undefined
}

export const everyNamespace: NamespaceFilter = {
  has: () => true,
  check: () => undefined,
  whenSynced: () => Promise.resolve(),
  problem: undefined,
  onChange: () => () => undefined,
}

/** By label. Objects that are in no namespace are always managed. */
export function optedIn(informers: Informers, label: NonNullable<LeaseSettings['optIn']>): NamespaceFilter {
  const labelSelector = label.value === undefined ? label.key : `${label.key}=${label.value}`
  const informer: Informer<PartialObjectMetadata> = informers.informer(metadataOf(Namespace), { labelSelector })
  const problem = (): string | undefined =>
    informer.health.state === 'down' ? `The namespaces can not be watched: ${informer.health.error.message}` : undefined
  return {
    has: (namespace) => namespace === undefined || informer.cache.getByKey(namespace) !== undefined,
    check() {
      const why = problem()
      if (why !== undefined) throw new TenureError('TENURE_LEASE_OPT_IN_UNKNOWN', why, { fate: 'retry' })
    },
    whenSynced: (signal) => informer.whenSynced(signal),
    get problem() {
      return problem()
    },
    onChange: (handler) =>
      informer.subscribe((event) => {
        // A change that leaves the label is none; with another uid it comes as deleted and added.
        if (event.type !== 'modified') handler(event.object.metadata.name)
      }),
  }
}
