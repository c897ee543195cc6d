import {
  isNotFound,
  type Kind,
  type KubeApi,
  type KubeObject,
  mergePatch,
  refTo,
  type Stored,
  type WriteOptions,
} from '@tenure/kube'

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) ?? false
}

/** Adds a finalizer. Fails with 409 if the object has changed since it was read. */
export async function addFinalizer<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  object: Stored<T>,
  finalizer: string,
  options?: WriteOptions,
): Promise<Stored<T>> {
  if (hasFinalizer(object, finalizer)) return object
  return await patchFinalizers(api, kind, object, [...(object.metadata.finalizers ?? []), finalizer], options)
}

/** Removes a finalizer. Fails with 409 if the object has changed since it was read. Undefined: the object is gone. */
export async function removeFinalizer<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  object: Stored<T>,
  finalizer: string,
  options?: WriteOptions,
): Promise<Stored<T> | undefined> {
  if (!hasFinalizer(object, finalizer)) return object
  const left = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer)
  try {
    return await patchFinalizers(api, kind, object, left, options)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

// A merge patch replaces the whole list, so it must not overwrite changes of others: it carries the resourceVersion,
// which a new object of the same name does not have either.
function patchFinalizers<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  object: Stored<T>,
  finalizers: readonly string[],
  options?: WriteOptions,
): Promise<Stored<T>> {
  const { resourceVersion } = object.metadata
  return api.patch(kind, refTo(object), mergePatch({ metadata: { resourceVersion, finalizers } }), options)
}
