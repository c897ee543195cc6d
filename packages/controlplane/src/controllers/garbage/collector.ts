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
import type { Component, InformerEvent } from '@tenure/runtime'
import { KeyedWorker } from '../keyed-worker.ts'
import type { Surroundings } from '../context.ts'
import { GarbageObjects } from './objects.ts'

const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'
/** Owners that were looked for and not found are remembered, so many of them. */
const MOST_ABSENT = 1_000

/** Deletes what nobody owns any more, whatever its kind. */
export function garbageCollector(around: Surroundings, watchedWhole: readonly Kind[]): Component {
  return new GarbageCollector(around, watchedWhole)
}

interface Owners {
  /** They are there. */
  readonly solid: readonly OwnerReference[]
  /** They are there, and wait until their dependents are gone. */
  readonly waiting: readonly OwnerReference[]
  /** They are gone. */
  readonly dangling: readonly OwnerReference[]
}

class GarbageCollector implements Component {
  readonly name = 'garbage-collector'
  readonly #around: Surroundings
  readonly #objects: GarbageObjects
  readonly #worker: KeyedWorker
  readonly #absent = new Set<string>()

  constructor(around: Surroundings, watchedWhole: readonly Kind[]) {
    this.#around = around
    const { clock, controllers, informers, log, metrics, random } = around
    this.#objects = new GarbageObjects({
      api: controllers,
      informers,
      clock,
      random,
      log,
      metrics,
      watchedWhole,
      onEvent: (event) => this.#noticed(event),
      onSynced: () => this.#checkAll(),
    })
    this.#worker = new KeyedWorker({
      name: this.name,
      clock,
      log,
      metrics,
      concurrency: 20,
      work: (uid, signal) => this.#work(uid, signal),
    })
  }

  /** It does not wait for all caches of all kinds: nobody waits for the collector. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#worker.start(signal)
    this.#objects.start(signal)
  }

  async stop(grace: number): Promise<void> {
    await this.#worker.stop(grace)
    this.#objects.stop()
  }

  #noticed(event: InformerEvent<KubeObject>): void {
    const { metadata } = event.object
    if (event.type === 'deleted') {
      for (const dependent of this.#objects.dependentsOf(metadata.uid)) this.#worker.add(dependent.metadata.uid)
      // One less that its owners wait for.
      for (const { uid } of metadata.ownerReferences ?? []) if (this.#objects.known(uid)) this.#worker.add(uid)
      return
    }
    if (this.#needsLook(event.object)) this.#worker.add(metadata.uid)
    if (event.type === 'added') return
    // A dependent that no longer blocks, or is no longer one, may set its owner free.
    for (const { uid } of event.old.metadata.ownerReferences ?? []) {
      const owner = this.#objects.object(uid)
      if (owner && isGoingInForeground(owner)) this.#worker.add(uid)
    }
  }

  /** Most objects have owners that are there, and need none. */
  #needsLook(object: Stored<KubeObject>): boolean {
    const { metadata } = object
    if (metadata.deletionTimestamp)
      return (metadata.finalizers ?? []).some((name) => name === FOREGROUND || name === ORPHAN)
    return (metadata.ownerReferences ?? []).some((reference) => {
      const owner = this.#seen(object, reference)
      return !owner || isGoingInForeground(owner)
    })
  }

  /** The owner that a reference means, if a cache has it: what has its uid and is elsewhere, or of another kind, is not meant. */
  #seen(object: Stored<KubeObject>, reference: OwnerReference): Stored<KubeObject> | undefined {
    const known = this.#objects.known(reference.uid)
    if (!known || known.name !== reference.name) return undefined
    if (known.resource.key !== this.#objects.resourceFor(reference.apiVersion, reference.kind)?.key) return undefined
    if (known.resource.kind.namespaced && known.namespace !== object.metadata.namespace) return undefined
    return this.#objects.object(reference.uid)
  }

  #checkAll(): void {
    for (const object of this.#objects.owned()) if (this.#needsLook(object)) this.#worker.add(object.metadata.uid)
  }

  #noteAbsent(place: string): void {
    this.#absent.add(place)
    if (this.#absent.size <= MOST_ABSENT) return
    for (const oldest of this.#absent) {
      this.#absent.delete(oldest)
      return
    }
  }

  async #work(uid: string, signal: AbortSignal): Promise<number | undefined> {
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
    if (owners === undefined) return 5_000
    await this.#settle(object, owners, signal)
    return undefined
  }

  // ---- what becomes of an object whose owners are gone ----

  async #settle(object: Stored<KubeObject>, { dangling, solid, waiting }: Owners, signal: AbortSignal): Promise<void> {
    if (solid.length > 0) {
      if (dangling.length + waiting.length > 0) await this.#writeOwners(object, solid, signal)
      return
    }
    const dependents = waiting.length > 0 ? this.#objects.dependentsOf(object.metadata.uid) : []
    if (dependents.length > 0) {
      const { ownerReferences = [] } = object.metadata
      const isBlocking = ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
      // Its owner waits for it, and it would wait for what may be its owner's owner: as in the real server, nobody who may be in a circle is waited for.
      if (isBlocking && dependents.some(isGoingInForeground)) {
        const unblocked = ownerReferences.map((each) => ({ ...each, blockOwnerDeletion: false }))
        await this.#writeOwners(object, unblocked, signal)
        // The change brings us back.
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

  /** Undefined if it can not be told yet. */
  async #classify(object: Stored<KubeObject>, signal: AbortSignal): Promise<Owners | undefined> {
    const found = { solid: [] as OwnerReference[], waiting: [] as OwnerReference[], dangling: [] as OwnerReference[] }
    for (const reference of object.metadata.ownerReferences ?? []) {
      const owner = this.#seen(object, reference) ?? (await this.#lookUp(object, reference, signal))
      if (owner === 'unknown') return undefined
      if (owner === 'absent') found.dangling.push(reference)
      else if (isGoingInForeground(owner)) found.waiting.push(reference)
      else found.solid.push(reference)
    }
    return found
  }

  /** An owner that no cache has: the server decides. */
  async #lookUp(
    object: Stored<KubeObject>,
    reference: OwnerReference,
    signal: AbortSignal,
  ): Promise<Stored<KubeObject> | 'absent' | 'unknown'> {
    const resource = this.#objects.resourceFor(reference.apiVersion, reference.kind)
    if (!resource) return 'unknown'
    const { namespaced } = resource.kind
    const { namespace } = object.metadata
    // A cluster-scoped object can not have an owner in a namespace; nobody can say which it would be.
    if (namespaced && !namespace) return 'unknown'
    const ref = namespaced ? { name: reference.name, namespace } : { name: reference.name }
    // By all that it says, not by its uid alone: another reference may mean an owner that is there.
    const place = [resource.key, ref.namespace ?? '', ref.name, reference.uid].join(' ')
    if (this.#absent.has(place)) return 'absent'
    try {
      const owner = await this.#around.controllers.get(metadataOf(resource.kind), ref, { signal })
      if (owner.metadata.uid === reference.uid) return owner
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    this.#noteAbsent(place)
    return 'absent'
  }

  // ---- objects that are being deleted, and what depends on them ----

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

  // ---- writes, each on condition that the object is as it was seen ----

  async #delete(object: Stored<KubeObject>, propagation: Propagation, signal: AbortSignal): Promise<void> {
    const known = this.#objects.known(object.metadata.uid)
    if (!known) return
    const { resourceVersion, uid } = object.metadata
    const preconditions = { uid, resourceVersion }
    try {
      await this.#around.controllers.delete(metadataOf(known.resource.kind), known, {
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
    const known = this.#objects.known(object.metadata.uid)
    if (!known) return
    const { resourceVersion, uid } = object.metadata
    const patch = mergePatch({ metadata: { uid, resourceVersion, ...metadata } })
    try {
      await this.#around.controllers.patch(metadataOf(known.resource.kind), known, patch, { signal })
    } catch (error) {
      // Another of that name is not meant.
      const isAnother = error instanceof ApiError && isConflict(error) && !this.#objects.object(uid)
      if (!isNotFound(error) && !isAnother) throw error
    }
  }
}

function isGoingInForeground({ metadata }: Stored<KubeObject>): boolean {
  return Boolean(metadata.deletionTimestamp) && (metadata.finalizers ?? []).includes(FOREGROUND)
}
