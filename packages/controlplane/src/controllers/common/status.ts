import { isNotFound, type Kind, type KubeApi, type KubeObject, type Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'

interface WithStatus extends KubeObject {
  readonly status?: object
}

/** Writes a changed status, conditional on the resourceVersion. */
export async function updateStatus<T extends WithStatus>(
  api: KubeApi,
  kind: Kind<T>,
  object: Stored<T>,
  status: NonNullable<T['status']>,
  signal: AbortSignal,
): Promise<Stored<T>> {
  if (isDeepEqual(object.status, status)) return object
  try {
    return await api.update<T>(kind, { ...object, status }, { subresource: 'status', signal })
  } catch (error) {
    if (isNotFound(error)) return object
    throw error
  }
}

/** Omits a zero, as Go's omitempty does. */
export function count<K extends string>(name: K, value: number): { readonly [P in K]?: number } {
  return (value === 0 ? {} : { [name]: value }) as { readonly [P in K]?: number }
}
