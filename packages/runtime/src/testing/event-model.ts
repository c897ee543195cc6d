import { compareResourceVersions, keyOf, type KubeObject, type Stored } from '@tenure/kube'
import type { Informer, InformerEvent } from '../informer/types.ts'

/**
 * Replays the events of an informer and reports those that do not follow from the earlier ones. In the end it must hold
 * the same objects as the cache.
 */
export class EventModel<T extends KubeObject> {
  readonly objects = new Map<string, Stored<T>>()
  /** One sentence for each event that does not fit. */
  readonly problems: string[] = []
  /** `added default/a@3`. */
  readonly log: string[] = []
  readonly unsubscribe: () => void

  constructor(informer: Informer<T>) {
    this.unsubscribe = informer.subscribe((event) => this.#apply(event))
  }

  #apply(event: InformerEvent<T>): void {
    const { metadata } = event.object
    const key = keyOf(metadata)
    const known = this.objects.get(key)
    this.log.push(`${event.type} ${key}@${metadata.resourceVersion}`)
    switch (event.type) {
      case 'added':
        if (known) this.#report(event, `added although ${known.metadata.uid} exists`)
        this.objects.set(key, event.object)
        break
      case 'modified':
        if (event.old !== known) this.#report(event, 'modified from a state that was never published')
        if (known && known.metadata.uid !== metadata.uid) this.#report(event, 'modified into another object')
        if (known && compareResourceVersions(metadata.resourceVersion, known.metadata.resourceVersion) < 0) {
          this.#report(event, `modified back from ${known.metadata.resourceVersion}`)
        }
        this.objects.set(key, event.object)
        break
      case 'deleted':
        if (known?.metadata.uid !== metadata.uid) this.#report(event, 'deleted although it does not exist')
        this.objects.delete(key)
        break
    }
  }

  #report(event: InformerEvent<T>, what: string): void {
    this.problems.push(`${keyOf(event.object.metadata)}@${event.object.metadata.resourceVersion}: ${what}`)
  }
}

/** `default/a@3`, sorted: the state of a cache or of a server, to compare. */
export function versionsOf(objects: Iterable<Stored<KubeObject>>): readonly string[] {
  return [...objects].map(({ metadata }) => `${keyOf(metadata)}@${metadata.resourceVersion} ${metadata.uid}`).toSorted()
}
