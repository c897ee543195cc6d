import { metadataOf, type PartialObjectMetadata, TenureError } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import type { Informer, Informers } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import { isDnsName } from '../../dns-name.ts'

/** Selects the namespaces whose objects are managed: all, or those with a label. Follows label changes. */
export interface NamespaceFilter {
  /** Whether objects of this namespace are managed. Always true for cluster-scoped objects. */
  has(namespace: string | undefined): boolean
  /** Throws while namespaces cannot be watched: their labels may have changed. */
  check(): void
  whenSynced(signal: AbortSignal): Promise<void>
  readonly problem: string | undefined
  /** Calls `handler` when a namespace starts or stops matching. Returns a function that unsubscribes. */
  onChange(handler: (namespace: string) => void): () => void
}

const LABEL_WORD = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** Why this is no label that a namespace can have; as a selector it might well mean others: `!protected`, `a,b`. */
export function optInLabelProblem({ key, value }: NonNullable<LeaseSettings['optIn']>): string | undefined {
  const slash = key.indexOf('/')
  const [domain, name] = slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)]
  if ((domain !== undefined && !isDnsName(domain)) || !LABEL_WORD.test(name))
    return `${JSON.stringify(key)} is not a valid label name`
  if (value && !LABEL_WORD.test(value)) return `${JSON.stringify(value)} is not a valid label value`
  return undefined
}

export const everyNamespace: NamespaceFilter = {
  has: () => true,
  check: () => undefined,
  whenSynced: () => Promise.resolve(),
  problem: undefined,
  onChange: () => () => undefined,
}

export function labelledNamespaces(informers: Informers, label: NonNullable<LeaseSettings['optIn']>): NamespaceFilter {
  const labelSelector = label.value === undefined ? label.key : `${label.key}=${label.value}`
  const informer: Informer<PartialObjectMetadata> = informers.informer(metadataOf(Namespace), { labelSelector })
  const problem = (): string | undefined =>
    informer.health.state === 'down' ? `Namespaces cannot be watched: ${informer.health.error.message}` : undefined
  return {
    has: (namespace) => namespace === undefined || informer.cache.getByKey(namespace) !== undefined,
    check() {
      const message = problem()
      if (message !== undefined) throw new TenureError('TENURE_LEASE_OPT_IN_UNKNOWN', message, { fate: 'retry' })
    },
    whenSynced: (signal) => informer.whenSynced(signal),
    get problem() {
      return problem()
    },
    onChange: (handler) =>
      informer.subscribe((event) => {
        // A modified namespace still matches; a recreated one arrives as deleted and added.
        if (event.type !== 'modified') handler(event.object.metadata.name)
      }),
  }
}
