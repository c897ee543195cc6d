import { compareResourceVersions, keyOf, type KubeObject, type Stored } from '@tenure/kube'
import type { Informer, InformerEvent } from '../informer/types.ts'

/**
 * What a handler knows if it believes nothing but the events: it replays them, and complains of any that does not
 * follow from those before it. At the end it must hold what the cache holds.
 */
export class EventModel<T extends KubeObject> {
  readonly objects = new Map<string, Stored<T>>()
  /** Sentences, one for each event that did not fit. */
  readonly complaints: string[] = []
  /** `added default/a@3`. */
  readonly log: string[] = []
  readonly unsubscribe: () => void

  constructor(informer: Informer<T>) {
    this.unsubscribe = informer.subscribe((event) => this.#take(event))
  }

  #take(event: InformerEvent<T>): void {
    const { metadata } = event.object
    const key = keyOf(metadata)
    const known = this.objects.get(key)
    this.log.push(`${event.type} ${key}@${metadata.resourceVersion}`)
    switch (event.type) {
      case 'added':
        if (known) this.#complain(event, `added although ${known.metadata.uid} is there`)
        this.objects.set(key, event.object)
        break
      case 'modified':
        if (event.old !== known) this.#complain(event, 'modified from a state that was never told of')
        if (known && known.metadata.uid !== metadata.uid) this.#complain(event, 'modified into another object')
        if (known && compareResourceVersions(metadata.resourceVersion, known.metadata.resourceVersion) < 0) {
          this.#complain(event, `modified back from ${known.metadata.resourceVersion}`)
        }
        this.objects.set(key, event.object)
        break
      case 'deleted':
        if (known?.metadata.uid !== metadata.uid) this.#complain(event, 'deleted although it is not there')
        this.objects.delete(key)
        break
    }
  }

  #complain(event: InformerEvent<T>, what: string): void {
    this.complaints.push(`${keyOf(event.object.metadata)}@${event.object.metadata.resourceVersion}: ${what}`)
  }
}

/** `default/a@3`, sorted: the state of a cache or of a server, to compare. */
export function versionsOf(objects: Iterable<Stored<KubeObject>>): readonly string[] {
  return [...objects].map(({ metadata }) => `${keyOf(metadata)}@${metadata.resourceVersion} ${metadata.uid}`).toSorted()
}
