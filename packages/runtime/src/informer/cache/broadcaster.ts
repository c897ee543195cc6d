import type { KubeObject } from '@tenure/kube'
import type { InformerEvent } from '../types.ts'

type Handler<T extends KubeObject> = (event: InformerEvent<T>) => void

interface Subscriber<T extends KubeObject> {
  readonly handler: Handler<T>
  active: boolean
}

/**
 * Hands events to subscribers, in order. A change made while an event is being handed out is handed out after it, to
 * those who were there when it was made: who subscribes in between has already seen it in the replay.
 */
export class Broadcaster<T extends KubeObject> {
  /** Replaced, never changed, so that an event can keep the list it belongs to. */
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

  /** `replay` is called with what hands events to this subscriber alone. Returns what ends the subscription. */
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

  /** The cache has all of these already. */
  publish(events: readonly InformerEvent<T>[]): void {
    const to = this.#subscribers
    if (to.length === 0) return
    for (const event of events) this.#queue.push({ event, to })
    this.#drain()
  }

  #drain(): void {
    if (this.#busy) return
    this.#busy = true
    // The queue grows while it is read; it is short but for a whole list, which is read once from front to back.
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
