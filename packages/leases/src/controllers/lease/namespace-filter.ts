import { metadataOf, type PartialObjectMetadata, TenureError } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'
import { labelValue, qualifiedName } from '@tenure/kube/model'
import type { Informer, Informers } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'

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

/** Why this is not a valid label. As a selector, `!protected` or `a,b` would match other namespaces. */
export function optInLabelProblem({ key, value }: NonNullable<LeaseSettings['optIn']>): string | undefined {
  if (qualifiedName(key).length > 0) return `${JSON.stringify(key)} is not a valid label name`
  if (value && labelValue(value).length > 0) return `${JSON.stringify(value)} is not a valid label value`
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
