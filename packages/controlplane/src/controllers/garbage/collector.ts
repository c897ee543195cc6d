import {
  ApiError,
  isConflict,
  isNotFound,
  type Kind,
  type KubeObject,
  mergePatch,
  metadataOf,
  type OwnerReference,
  type Propagation,
  type Stored,
} from '@tenure/kube'
import { type Component, type InformerEvent, QueueWorker, type Requeue } from '@tenure/runtime'
import { LRUCache } from 'lru-cache'
import type { ControlPlaneContext } from '../context.ts'
import { GarbageObjects } from './objects.ts'

const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'
/** Milliseconds until an object with an owner of an unknown kind is checked again. */
const UNKNOWN_OWNER_RETRY_MS = 5_000
/** Maximum number of remembered absent owners. */
const MAX_ABSENT_OWNERS = 1_000

/** Deletes objects of any kind whose owners are all gone. */
export function garbageCollector(context: ControlPlaneContext, sharedKinds: readonly Kind[]): Component {
  return new GarbageCollector(context, sharedKinds)
}

interface Owners {
  /** Existing owners. */
  readonly solid: readonly OwnerReference[]
  /** Existing owners in foreground deletion, which wait for their dependents. */
  readonly waiting: readonly OwnerReference[]
  /** Absent owners. */
  readonly dangling: readonly OwnerReference[]
}

class GarbageCollector implements Component {
  readonly name = 'garbage-collector'
  readonly #context: ControlPlaneContext
  readonly #objects: GarbageObjects
  readonly #worker: QueueWorker
  readonly #absent = new LRUCache<string, true>({ max: MAX_ABSENT_OWNERS })

  constructor(context: ControlPlaneContext, sharedKinds: readonly Kind[]) {
    this.#context = context
    const { clock, controllers, informers, log, metrics, random } = context
    this.#objects = new GarbageObjects({
      api: controllers,
      informers,
      clock,
      random,
      log,
      metrics,
      sharedKinds,
      onEvent: (event) => this.#onEvent(event),
      onSynced: () => this.#checkAll(),
    })
    this.#worker = new QueueWorker({
      name: this.name,
      clock,
      log,
      metrics,
      concurrency: 20,
      work: (uid, { signal }) => this.#work(uid, signal),
    })
  }

  /** Does not wait for the caches of all kinds, because no other component depends on the collector. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#worker.start()
    this.#objects.start(signal)
  }

  async stop(grace: number): Promise<void> {
    await this.#worker.stop(grace)
    this.#objects.stop()
  }

  #onEvent(event: InformerEvent<KubeObject>): void {
    const { metadata } = event.object
    if (event.type === 'deleted') {
      for (const dependent of this.#objects.dependentsOf(metadata.uid)) this.#worker.add(dependent.metadata.uid)
      // Owners in foreground deletion wait for this dependent.
      for (const { uid } of metadata.ownerReferences ?? []) if (this.#objects.locate(uid)) this.#worker.add(uid)
      return
    }
    if (this.#needsWork(event.object)) this.#worker.add(metadata.uid)
    if (event.type === 'added') return
    // A dependent that no longer blocks may release its owner.
    for (const { uid } of event.old.metadata.ownerReferences ?? []) {
      const owner = this.#objects.object(uid)
      if (owner && isDeletingInForeground(owner)) this.#worker.add(uid)
    }
  }

  /** False for most objects, whose owners exist. */
  #needsWork(object: Stored<KubeObject>): boolean {
    const { metadata } = object
    if (metadata.deletionTimestamp)
      return (metadata.finalizers ?? []).some((name) => name === FOREGROUND || name === ORPHAN)
    return (metadata.ownerReferences ?? []).some((reference) => {
      const owner = this.#cachedOwner(object, reference)
      return !owner || isDeletingInForeground(owner)
    })
  }

  /** The owner from a cache. An object with the uid but another kind, name or namespace is not the owner. */
  #cachedOwner(object: Stored<KubeObject>, reference: OwnerReference): Stored<KubeObject> | undefined {
    const location = this.#objects.locate(reference.uid)
    if (!location || location.name !== reference.name) return undefined
    if (location.resource.key !== this.#objects.resourceFor(reference.apiVersion, reference.kind)?.key) return undefined
    if (location.resource.kind.namespaced && location.namespace !== object.metadata.namespace) return undefined
    return this.#objects.object(reference.uid)
  }

  #checkAll(): void {
    for (const object of this.#objects.owned()) if (this.#needsWork(object)) this.#worker.add(object.metadata.uid)
  }

  async #work(uid: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const object = this.#objects.object(uid)
    if (!object) return undefined
    const { deletionTimestamp, finalizers = [] } = object.metadata
    if (deletionTimestamp) {
      if (finalizers.includes(ORPHAN)) await this.#orphanDependents(object, signal)
      else if (finalizers.includes(FOREGROUND)) await this.#awaitDependents(object, signal)
      return undefined
    }
    if (!object.metadata.ownerReferences?.length) return undefined
    const owners = await this.#classify(object, signal)
    if (owners === undefined) return { requeueAfter: UNKNOWN_OWNER_RETRY_MS }
    await this.#deleteOrRelease(object, owners, signal)
    return undefined
  }

  // ---- dependents of absent owners ----

  async #deleteOrRelease(
    object: Stored<KubeObject>,
    { dangling, solid, waiting }: Owners,
    signal: AbortSignal,
  ): Promise<void> {
    if (solid.length > 0) {
      if (dangling.length + waiting.length > 0) await this.#writeOwners(object, solid, signal)
      return
    }
    const dependents = waiting.length > 0 ? this.#objects.dependentsOf(object.metadata.uid) : []
    if (dependents.length > 0) {
      const { ownerReferences = [] } = object.metadata
      const isBlocking = ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
      // The owner waits for this object, which would wait for a possible owner of its owner. As upstream, an object in a
      // possible cycle does not block.
      if (isBlocking && dependents.some(isDeletingInForeground)) {
        const unblocked = ownerReferences.map((each) => ({ ...each, blockOwnerDeletion: false }))
        await this.#writeOwners(object, unblocked, signal)
        // The change causes another run.
        return
      }
      await this.#delete(object, 'Foreground', signal)
      return
    }
    const { finalizers = [] } = object.metadata
    const propagation = finalizers.includes(ORPHAN)
      ? 'Orphan'
      : finalizers.includes(FOREGROUND)
        ? 'Foreground'
        : 'Background'
    await this.#delete(object, propagation, signal)
  }

  /** Returns undefined if an owner's kind is not served (yet). */
  async #classify(object: Stored<KubeObject>, signal: AbortSignal): Promise<Owners | undefined> {
    const found = { solid: [] as OwnerReference[], waiting: [] as OwnerReference[], dangling: [] as OwnerReference[] }
    for (const reference of object.metadata.ownerReferences ?? []) {
      const owner = this.#cachedOwner(object, reference) ?? (await this.#lookUp(object, reference, signal))
      if (owner === 'unknown') return undefined
      if (owner === 'absent') found.dangling.push(reference)
      else if (isDeletingInForeground(owner)) found.waiting.push(reference)
      else found.solid.push(reference)
    }
    return found
  }

  /** Reads an owner that is in no cache from the API server. */
  async #lookUp(
    object: Stored<KubeObject>,
    reference: OwnerReference,
    signal: AbortSignal,
  ): Promise<Stored<KubeObject> | 'absent' | 'unknown'> {
    const resource = this.#objects.resourceFor(reference.apiVersion, reference.kind)
    if (!resource) return 'unknown'
    const { namespaced } = resource.kind
    const { namespace } = object.metadata
    // A cluster-scoped object cannot have an owner in a namespace: the reference does not name the namespace.
    if (namespaced && !namespace) return 'unknown'
    const ref = namespaced ? { name: reference.name, namespace } : { name: reference.name }
    // Keyed by the whole reference: another reference with the same uid may have an existing owner.
    const key = [resource.key, ref.namespace ?? '', ref.name, reference.uid].join(' ')
    if (this.#absent.has(key)) return 'absent'
    try {
      const owner = await this.#context.controllers.get(metadataOf(resource.kind), ref, { signal })
      if (owner.metadata.uid === reference.uid) return owner
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    this.#absent.set(key, true)
    return 'absent'
  }

  // ---- objects in deletion and their dependents ----

  async #awaitDependents(owner: Stored<KubeObject>, signal: AbortSignal): Promise<void> {
    const { uid } = owner.metadata
    let isBlocked = false
    for (const { metadata } of this.#objects.dependentsOf(uid)) {
      if (!metadata.deletionTimestamp) this.#worker.add(metadata.uid)
      isBlocked ||= (metadata.ownerReferences ?? []).some(
        (each) => each.uid === uid && each.blockOwnerDeletion === true,
      )
    }
    if (!isBlocked) await this.#removeFinalizer(owner, FOREGROUND, signal)
  }

  async #orphanDependents(owner: Stored<KubeObject>, signal: AbortSignal): Promise<void> {
    const { uid } = owner.metadata
    for (const dependent of this.#objects.dependentsOf(uid)) {
      const left = (dependent.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid)
      await this.#writeOwners(dependent, left, signal)
    }
    await this.#removeFinalizer(owner, ORPHAN, signal)
  }

  // ---- conditional writes ----

  async #delete(object: Stored<KubeObject>, propagation: Propagation, signal: AbortSignal): Promise<void> {
    const location = this.#objects.locate(object.metadata.uid)
    if (!location) return
    const { resourceVersion, uid } = object.metadata
    const preconditions = { uid, resourceVersion }
    try {
      await this.#context.controllers.delete(metadataOf(location.resource.kind), location, {
        preconditions,
        propagation,
        signal,
      })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #writeOwners(
    object: Stored<KubeObject>,
    owners: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#patch(object, { ownerReferences: owners.length > 0 ? owners : null }, signal)
  }

  async #removeFinalizer(object: Stored<KubeObject>, name: string, signal: AbortSignal): Promise<void> {
    const left = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name)
    await this.#patch(object, { finalizers: left.length > 0 ? left : null }, signal)
  }

  async #patch(object: Stored<KubeObject>, metadata: object, signal: AbortSignal): Promise<void> {
    const location = this.#objects.locate(object.metadata.uid)
    if (!location) return
    const { resourceVersion, uid } = object.metadata
    const patch = mergePatch({ metadata: { uid, resourceVersion, ...metadata } })
    try {
      await this.#context.controllers.patch(metadataOf(location.resource.kind), location, patch, { signal })
    } catch (error) {
      // A conflict with another object of the same name is final.
      const isAnother = error instanceof ApiError && isConflict(error) && !this.#objects.object(uid)
      if (!isNotFound(error) && !isAnother) throw error
    }
  }
}

function isDeletingInForeground({ metadata }: Stored<KubeObject>): boolean {
  return Boolean(metadata.deletionTimestamp) && (metadata.finalizers ?? []).includes(FOREGROUND)
}
