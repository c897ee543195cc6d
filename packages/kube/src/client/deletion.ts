import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'

interface WithSpecFinalizers extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
}

/**
 * Whether an object in the response to a write is still stored. A deleted object remains while it has finalizers or a
 * grace period; otherwise this write removed it.
 */
export function isStillThere(kind: Kind, object: KubeObject): boolean {
  const { metadata } = object
  if (!metadata?.deletionTimestamp) return true
  if ((metadata.finalizers?.length ?? 0) > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0) return true
  // A namespace has its finalizers in its spec, which a metadata-only read does not show.
  if (kind.group !== '' || kind.plural !== 'namespaces') return false
  return kind.representation === 'metadata' || ((object as WithSpecFinalizers).spec?.finalizers?.length ?? 0) > 0
}
