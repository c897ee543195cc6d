import type { KubeObject } from '@tenure/kube'
import type { InformerEvent } from '../types.ts'

type Handler<T extends KubeObject> = (event: InformerEvent<T>) => void

interface Subscriber<T extends KubeObject> {
  readonly handler: Handler<T>
  active: boolean
}

/**
 * Delivers events to subscribers in order. A change during a delivery is delivered after it, to the subscribers that
 * existed when the change was made: later subscribers have seen it in their replay.
 */
export class Broadcaster<T extends KubeObject> {
  /** Replaced and never mutated, so that an event can keep the list it belongs to. */
  #subscribers: readonly Subscriber<T>[] = []
  readonly #queue: { readonly event: InformerEvent<T>; readonly to: readonly Subscriber<T>[] }[] = []
  #busy = false
  readonly #onFailure: (error: unknown) => void

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
  }

  get subscribers(): number {
    return this.#subscribers.length
  }

  /**
   * `replay` receives a function that delivers events to this subscriber only. Returns a function that unsubscribes.
   */
  subscribe(handler: Handler<T>, replay: (deliver: Handler<T>) => void): () => void {
    const subscriber: Subscriber<T> = { handler, active: true }
    const alone = [subscriber]
    replay((event) => this.#queue.push({ event, to: alone }))
    this.#subscribers = [...this.#subscribers, subscriber]
    this.#drain()
    return () => {
      subscriber.active = false
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber)
    }
  }

  /** Publishes events that the cache already reflects. */
  publish(events: readonly InformerEvent<T>[]): void {
    const to = this.#subscribers
    if (to.length === 0) return
    for (const event of events) this.#queue.push({ event, to })
    this.#drain()
  }

  #drain(): void {
    if (this.#busy) return
    this.#busy = true
    // The queue may grow during the loop. It is short, except for a full list, which is read once from front to back.
    for (let at = 0; at < this.#queue.length; at++) {
      const entry = this.#queue[at]
      if (entry) for (const subscriber of entry.to) this.#deliver(subscriber, entry.event)
    }
    this.#queue.length = 0
    this.#busy = false
  }

  #deliver(subscriber: Subscriber<T>, event: InformerEvent<T>): void {
    if (!subscriber.active) return
    try {
      subscriber.handler(event)
    } catch (error) {
      this.#onFailure(error)
    }
  }
}
