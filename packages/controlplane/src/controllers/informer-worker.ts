import type { KubeObject } from '@tenure/kube'
import type { Component, Informer, QueueWorker } from '@tenure/runtime'

export interface InformerWorkerOptions {
  readonly worker: QueueWorker
  /** Synced before the worker starts. */
  readonly informers: readonly Informer<KubeObject>[]
  /** Adds keys to the worker on informer events. Returns the functions that unsubscribe. */
  readonly subscribe: () => readonly (() => void)[]
}

/**
 * Runs a QueueWorker on keys from informer events, for controllers that `controller(Kind, …)` does not fit: those of many
 * kinds at once, and those that handle objects in deletion.
 */
export function informerWorker({ worker, informers, subscribe }: InformerWorkerOptions): Component {
  const unsubscribes: (() => void)[] = []
  return {
    name: worker.name,
    start: async (signal) => {
      await Promise.all(informers.map((informer) => informer.whenSynced(signal)))
      unsubscribes.push(...subscribe())
      await worker.start()
    },
    stop: async (grace) => {
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe()
      await worker.stop(grace)
    },
  }
}
