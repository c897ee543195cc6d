import { Client, type Kind, type KubeApi, RestMapper, TenureError } from '@tenure/kube'
import type { GroupVersionKind } from '../../api/types.ts'

/** Resolves a kind to its plural and scope. */
export interface KindFinder {
  /** Rejects with `TENURE_KIND_UNKNOWN` while the API server does not serve it. */
  find(gvk: GroupVersionKind, signal: AbortSignal): Promise<Kind>
  /** Drops the cached discovery. */
  invalidate(): void
}

/** Minimum interval between discovery requests, whatever the number of controllers that wait for a kind. */
const REFRESH_AFTER_MS = 2_000

const finders = new WeakMap<KubeApi, KindFinder>()

/** Resolves kinds by discovery; controllers with the same client share the cache. */
export function kindFinder(api: KubeApi): KindFinder {
  const known = finders.get(api)
  if (known) return known
  if (!(api instanceof Client)) {
    throw new TenureError('TENURE_LEASE_KIND_FINDER', 'Only a Client can ask the API server for its kinds.', {
      fate: 'bug',
    })
  }
  const mapper = new RestMapper(api.requester, { refreshAfter: REFRESH_AFTER_MS })
  const finder: KindFinder = {
    find: ({ group, version, kind }, signal) => mapper.kind({ name: kind, group, version }, { signal }),
    invalidate: () => mapper.invalidate(),
  }
  finders.set(api, finder)
  return finder
}
