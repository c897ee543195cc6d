import type { Clock } from '@tenure/kube'
import { LRUCache } from 'lru-cache'

export interface ExpiringCacheOptions {
  readonly clock: Clock
  /** Milliseconds for which an entry is valid. */
  readonly lifetime: number
  /** Above this many entries the least recently used one is dropped. */
  readonly maxEntries: number
}

interface Entry<V> {
  readonly value: Promise<V>
  /** Monotonic time in milliseconds. */
  readonly since: number
}

/** A bounded cache of recent results. Concurrent calls for one key share one request. */
export class ExpiringCache<V> {
  readonly #clock: Clock
  readonly #lifetime: number
  readonly #entries: LRUCache<string, Entry<V>>

  constructor({ clock, lifetime, maxEntries }: ExpiringCacheOptions) {
    this.#clock = clock
    this.#lifetime = lifetime
    this.#entries = new LRUCache({ max: maxEntries })
  }

  get size(): number {
    return this.#entries.size
  }

  /** The cached value, or the one that `load` returns. A failure is not cached. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    const now = this.#clock.monotonic()
    const known = this.#entries.get(key)
    if (known && now - known.since < this.#lifetime) return known.value
    const value = load()
    const entry = { value, since: now }
    this.#entries.set(key, entry)
    value.catch(() => {
      if (this.#entries.peek(key) === entry) this.#entries.delete(key)
    })
    return value
  }
}
