import {
  isNotFound,
  type Kind,
  type KubeApi,
  type KubeObject,
  LabelMatcher,
  type LabelSelector,
  mergePatch,
  type ObjectRef,
  type OwnerReference,
  type Stored,
} from '@tenure/kube'
import type { Cache } from '@tenure/runtime'
import { controllerOf, controllerReference } from './owners.ts'

interface SelectingObject extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector }
}

const matchers = new WeakMap<LabelSelector, LabelMatcher>()

/** Returns undefined for a missing, empty or invalid selector, which selects nothing. */
export function matcherOf(selector: LabelSelector | undefined): LabelMatcher | undefined {
  if (!selector) return undefined
  let matcher = matchers.get(selector)
  if (!matcher) {
    try {
      matcher = LabelMatcher.from(selector)
    } catch {
      return undefined
    }
    matchers.set(selector, matcher)
  }
  return matcher.isEmpty ? undefined : matcher
}

/** Maps an object without controller to the owners that could adopt it. */
export function toPossibleAdopters(
  object: Stored<KubeObject>,
  primaries: Cache<SelectingObject>,
): readonly ObjectRef[] {
  if (controllerOf(object) || object.metadata.deletionTimestamp) return []
  return primaries
    .list(object.metadata.namespace)
    .filter((owner) => matcherOf(owner.spec?.selector)?.matches(object.metadata.labels))
    .map(({ metadata }) => metadata)
}

export interface ClaimOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly ownerKind: Kind
  readonly owner: Stored<KubeObject>
  readonly selector: LabelMatcher | undefined
  readonly kind: Kind<T>
  /** Objects with a reference to the owner. */
  readonly owned: readonly Stored<T>[]
  /** Objects of the namespace without controller. */
  readonly orphans: readonly Stored<T>[]
  readonly signal: AbortSignal
  /** Restricts which orphans are adopted. Default: all that match the selector. */
  readonly adoptable?: (object: Stored<T>) => boolean
}

/**
 * Returns the objects that belong to an owner. Adopts matching orphans and releases controlled objects that no longer
 * match. Most calls write nothing.
 */
export async function claim<T extends KubeObject>(options: ClaimOptions<T>): Promise<Stored<T>[]> {
  const { owner, selector, owned, orphans, adoptable } = options
  const claimed: Stored<T>[] = []
  for (const object of owned) {
    if (controllerOf(object)?.uid !== owner.metadata.uid) continue
    if (selector?.matches(object.metadata.labels)) claimed.push(object)
    else if (!owner.metadata.deletionTimestamp) await release(options, object)
  }
  if (owner.metadata.deletionTimestamp || !selector) return claimed
  let isAlive: boolean | undefined
  for (const object of orphans) {
    if (object.metadata.deletionTimestamp || !selector.matches(object.metadata.labels)) continue
    if (adoptable && !adoptable(object)) continue
    isAlive ??= await ownerExists(options)
    if (!isAlive) break
    const adopted = await adopt(options, object)
    if (adopted) claimed.push(adopted)
  }
  return claimed
}

/** Reads the owner live, because the cache may be stale: an owner that is being deleted adopts nothing. */
async function ownerExists(
  options: Pick<ClaimOptions<KubeObject>, 'api' | 'ownerKind' | 'owner' | 'signal'>,
): Promise<boolean> {
  const { api, ownerKind, owner, signal } = options
  try {
    const { metadata } = await api.get(ownerKind, owner.metadata, { signal })
    return metadata.uid === owner.metadata.uid && !metadata.deletionTimestamp
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

async function adopt<T extends KubeObject>(
  { api, kind, ownerKind, owner, signal }: ClaimOptions<T>,
  object: Stored<T>,
): Promise<Stored<T> | undefined> {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), controllerReference(ownerKind, owner)]
  return patchOwners(api, kind, object, ownerReferences, signal)
}

async function release<T extends KubeObject>(
  { api, kind, owner, signal }: ClaimOptions<T>,
  object: Stored<T>,
): Promise<void> {
  const left = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid)
  await patchOwners(api, kind, object, left, signal)
}

/**
 * Writes owner references. A conflict is thrown, as upstream does: a reconcile that continued without the object would
 * create a replacement for it.
 */
export async function patchOwners<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  object: Stored<T>,
  ownerReferences: readonly OwnerReference[],
  signal: AbortSignal,
): Promise<Stored<T> | undefined> {
  const { uid, resourceVersion } = object.metadata
  const patch = mergePatch({
    metadata: { uid, resourceVersion, ownerReferences: ownerReferences.length > 0 ? ownerReferences : null },
  })
  try {
    return await api.patch(kind, object.metadata, patch, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
