import { Client, type Kind, type KubeApi, RestMapper, TenureError } from '@tenure/kube'
import type { GroupVersionKind } from '../../api/types.ts'

/** Finds out how a kind is called in URLs, and whether it is in namespaces. */
export interface KindFinder {
  /** Rejects with `TENURE_KIND_UNKNOWN` while the API server does not serve it. */
  find(gvk: GroupVersionKind, signal: AbortSignal): Promise<Kind>
  /** What was found before does not hold any more. */
  invalidate(): void
}

/** However many wait for a kind, the server is asked what it serves at most this often, in milliseconds. */
const REFRESH_AFTER = 2_000

const finders = new WeakMap<KubeApi, KindFinder>()

/** By asking the API server; one for all who ask through the same client. */
export function kindFinder(api: KubeApi): KindFinder {
  const known = finders.get(api)
  if (known) return known
  if (!(api instanceof Client)) {
    throw new TenureError('TENURE_LEASE_KIND_FINDER', 'Only a Client can ask the API server for its kinds.', {
      fate: 'bug',
    })
  }
  const mapper = new RestMapper(api.requester, { refreshAfter: REFRESH_AFTER })
  const finder: KindFinder = {
    find: ({ group, version, kind }, signal) => mapper.kind({ name: kind, group, version }, { signal }),
    invalidate: () => mapper.invalidate(),
  }
  finders.set(api, finder)
  return finder
}
