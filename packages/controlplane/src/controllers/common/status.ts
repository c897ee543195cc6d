import { isConflict, isNotFound, type Kind, type KubeApi, type KubeObject, type Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'

interface WithStatus extends KubeObject {
  readonly status?: object
}

/** Attempts to write a status. Upstream repeats it once. */
const MAX_ATTEMPTS = 3

/**
 * Writes a changed status. A conflict means that another writer changed the object, often only its spec or metadata: the
 * controller is the only writer of the status, so the same status is written to the newest version of the same object.
 */
export async function updateStatus<T extends WithStatus>(
  api: KubeApi,
  kind: Kind<T>,
  object: Stored<T>,
  status: NonNullable<T['status']>,
  signal: AbortSignal,
): Promise<Stored<T>> {
  let newest = object
  for (let attempt = 1; ; attempt++) {
    if (isDeepEqual(newest.status, status)) return newest
    try {
      return await api.update<T>(kind, { ...newest, status }, { subresource: 'status', signal })
    } catch (error) {
      if (isNotFound(error)) return object
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error
      const current = await currentOf(api, kind, object, signal)
      if (!current) return object
      newest = current
    }
  }
}

/** The newest version of the object; undefined if it is gone or another one has its name. */
async function currentOf<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  { metadata }: Stored<T>,
  signal: AbortSignal,
): Promise<Stored<T> | undefined> {
  try {
    const current = await api.get(kind, metadata, { signal })
    return current.metadata.uid === metadata.uid ? current : undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Omits a zero, as Go's omitempty does. */
export function count<K extends string>(name: K, value: number): { readonly [P in K]?: number } {
  return (value === 0 ? {} : { [name]: value }) as { readonly [P in K]?: number }
}
