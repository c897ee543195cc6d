import { isNotFound, mergePatch, refTo } from '@tenure/kube'
import type { Leased, LeaseContext } from './context.ts'
import type { Changes } from './status.ts'

/** Changes annotations of exactly the object that was read: 409 if it has changed. Undefined if it is gone. */
export async function patchAnnotations(
  { api, kind }: Pick<LeaseContext, 'api' | 'kind'>,
  object: Leased,
  changes: Changes,
  signal: AbortSignal,
): Promise<Leased | undefined> {
  const { uid, resourceVersion } = object.metadata
  const patch = mergePatch({ metadata: { uid, resourceVersion, annotations: changes } })
  try {
    return await api.patch(kind, refTo(object), patch, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
