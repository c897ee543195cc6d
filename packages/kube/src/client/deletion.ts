import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'

interface WithSpecFinalizers extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
}

/**
 * Whether an object, as a write's answer shows it, is still stored. One that is being deleted stays while it has
 * finalizers or a grace period; without either, the write that answered with it was its last.
 */
export function isStillThere(kind: Kind, object: KubeObject): boolean {
  const { metadata } = object
  if (!metadata?.deletionTimestamp) return true
  if ((metadata.finalizers?.length ?? 0) > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0) return true
  // A namespace keeps its finalizers in its spec, which a metadata read does not show.
  if (kind.group !== '' || kind.plural !== 'namespaces') return false
  return kind.form === 'metadata' || ((object as WithSpecFinalizers).spec?.finalizers?.length ?? 0) > 0
}
