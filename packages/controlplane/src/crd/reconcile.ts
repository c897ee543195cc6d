import type { Clock } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asString, valueAtPath } from '@tenure/kube/model'

import { hasCondition, withCondition } from '../model/conditions.ts'
import { BUCKET, FINALIZER } from '../model/custom-resource-definition.ts'
import type { Storage, StoredObject } from '../storage/types.ts'
import { withAcceptedNames } from './accepted-names.ts'

export interface CrdReconcilerOptions {
  readonly storage: Storage
  readonly clock: Clock
  /**
   * Deletes a custom object as a client would, respecting its finalizers. Default: sets its deletionTimestamp, or removes
   * it if it has no finalizers.
   */
  readonly deleteInstance?: (bucket: string, instance: StoredObject) => Promise<void>
  /** Called when a write fails; the next change of the CRD retries it. Default: errors are ignored. */
  readonly onError?: (error: unknown) => void
}

const bucketOf = (crd: JsonObject): string =>
  `${asString(valueAtPath(crd, 'spec', 'names', 'plural'))}.${asString(valueAtPath(crd, 'spec', 'group'))}`

const fieldsOf = (stored: StoredObject): JsonObject => stored.object as unknown as JsonObject

/**
 * Reconciles CustomResourceDefinitions: accepts their names and establishes them if no other CRD of the group holds the
 * names; deletes the objects of a CRD that is being deleted, then removes its finalizer.
 */
export class CrdReconciler {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #deleteInstance: (bucket: string, instance: StoredObject) => Promise<void>
  readonly #onError: (error: unknown) => void
  readonly #watches = new Map<string, () => void>()
  #tail: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor({ storage, clock, deleteInstance, onError = () => {} }: CrdReconcilerOptions) {
    this.#storage = storage
    this.#clock = clock
    this.#deleteInstance = deleteInstance ?? ((bucket, instance) => this.#removeInstance(bucket, instance))
    this.#onError = onError
  }

  /** Reconciles all stored definitions, then each change. Returns a function that stops it. */
  start(): () => void {
    for (const { key } of this.#storage.range(BUCKET)) this.#enqueue(key)
    const end = this.#storage.watch(BUCKET, this.#storage.revision, ({ key, previous, current }) => {
      if (current) this.#enqueue(key)
      else if (previous) this.#released(fieldsOf(previous))
    })
    return () => {
      this.#isStopped = true
      end()
      for (const stop of this.#watches.values()) stop()
      this.#watches.clear()
    }
  }

  /** Resolves when all pending definitions are reconciled. */
  async idle(): Promise<void> {
    for (let tail: Promise<void> | undefined; tail !== this.#tail;) {
      tail = this.#tail
      await tail
    }
  }

  /** Definitions are reconciled one at a time, so that the first one gets the names. */
  #enqueue(key: string): void {
    this.#tail = this.#after(this.#tail, key)
  }

  async #after(tail: Promise<void>, key: string): Promise<void> {
    await tail
    if (this.#isStopped) return
    try {
      await this.reconcile(key)
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Removes the remaining objects of a deleted definition, and reconciles the others of its group, which may get its names. */
  #released(gone: JsonObject): void {
    const name = asString(valueAtPath(gone, 'metadata', 'name'))
    this.#watches.get(name)?.()
    this.#watches.delete(name)
    this.#tail = this.#purged(this.#tail, bucketOf(gone), name)
    const group = valueAtPath(gone, 'spec', 'group')
    for (const stored of this.#storage.range(BUCKET)) {
      if (valueAtPath(fieldsOf(stored), 'spec', 'group') === group) this.#enqueue(stored.key)
    }
  }

  async #purged(tail: Promise<void>, bucket: string, name: string): Promise<void> {
    await tail
    try {
      for (const key of Array.from(this.#storage.range(bucket), (stored) => stored.key)) {
        if (this.#isStopped || this.#storage.get(BUCKET, name)) return
        await this.#storage.write(bucket, key, (current) => (current ? { remove: true } : { keep: true }))
      }
    } catch (error) {
      this.#onError(error)
    }
  }

  async reconcile(key: string): Promise<void> {
    const found = this.#storage.get(BUCKET, key)
    if (!found) return
    if (found.object.metadata.deletionTimestamp !== undefined) {
      if (found.object.metadata.finalizers?.includes(FINALIZER)) await this.#cleanUp(key, found)
      return
    }
    await this.#write(key, (crd) => {
      const group = valueAtPath(crd, 'spec', 'group')
      const others = [...this.#storage.range(BUCKET)]
        .filter((stored) => stored.key !== key && valueAtPath(fieldsOf(stored), 'spec', 'group') === group)
        .map(fieldsOf)
      return withAcceptedNames(crd, others, this.#now())
    })
  }

  async #cleanUp(key: string, found: StoredObject): Promise<void> {
    const crd = fieldsOf(found)
    const bucket = bucketOf(crd)
    if (hasCondition(crd, 'Established')) {
      await this.#write(key, (current) =>
        this.#terminating(current, 'True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
      )
      for (const instance of Array.from(this.#storage.range(bucket))) {
        if (instance.object.metadata.deletionTimestamp === undefined) await this.#deleteInstance(bucket, instance)
      }
      if (this.#storage.count(bucket) > 0) {
        // Finalizers hold some objects; their removal triggers the next attempt.
        this.#awaitEmpty(key, bucket)
        return
      }
      await this.#release(key, 'InstanceDeletionCompleted', 'removed all instances')
    } else await this.#release(key, 'NeverEstablished', 'resource was never established')
  }

  #awaitEmpty(key: string, bucket: string): void {
    if (this.#watches.has(key)) return
    const end = this.#storage.watch(bucket, this.#storage.revision, () => {
      if (this.#storage.count(bucket) > 0) return
      end()
      this.#watches.delete(key)
      this.#enqueue(key)
    })
    this.#watches.set(key, end)
    // The last object may have been removed before the watch started.
    if (this.#storage.count(bucket) === 0) this.#enqueue(key)
  }

  async #release(key: string, reason: string, message: string): Promise<void> {
    await this.#storage.write(BUCKET, key, (current) => {
      if (!current) return { keep: true }
      const finalizers = (current.object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER)
      if (finalizers.length === 0) return { remove: true }
      const marked = this.#terminating(fieldsOf(current), 'False', reason, message)
      return { put: { ...marked, metadata: { ...current.object.metadata, finalizers } } }
    })
  }

  #terminating(crd: JsonObject, status: 'True' | 'False', reason: string, message: string): JsonObject {
    return withCondition(crd, { type: 'Terminating', status, reason, message }, this.#now())
  }

  async #write(key: string, change: (crd: JsonObject) => JsonObject): Promise<void> {
    await this.#storage.write(BUCKET, key, (current) => {
      if (!current) return { keep: true }
      const crd = fieldsOf(current)
      const next = change(crd)
      return next === crd ? { keep: true } : { put: next }
    })
  }

  async #removeInstance(bucket: string, { key }: StoredObject): Promise<void> {
    await this.#storage.write(bucket, key, (current) => {
      if (!current) return { keep: true }
      const { metadata } = current.object
      if ((metadata.finalizers?.length ?? 0) === 0) return { remove: true }
      if (metadata.deletionTimestamp !== undefined) return { keep: true }
      const marked = { ...metadata, deletionTimestamp: this.#now(), deletionGracePeriodSeconds: 0 }
      return { put: { ...current.object, metadata: marked } }
    })
  }

  #now(): string {
    return `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`
  }
}
