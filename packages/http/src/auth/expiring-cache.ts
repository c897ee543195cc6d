import type { Clock } from '@tenure/kube'

export interface ExpiringCacheOptions {
  readonly clock: Clock
  /** Milliseconds that an entry is good for. */
  readonly lifetime: number
  /** The oldest entry beyond these makes room. */
  readonly maxEntries: number
}

interface Entry<V> {
  readonly value: Promise<V>
  readonly since: number
}

/** Remembers answers for a short while, a bounded number of them, and asks once for those who ask at the same time. */
export class ExpiringCache<V> {
  readonly #options: ExpiringCacheOptions
  readonly #entries = new Map<string, Entry<V>>()

  constructor(options: ExpiringCacheOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** What is known, or what `ask` brings. A failure is passed on and not remembered. */
  get(key: string, ask: () => Promise<V>): Promise<V> {
    const { clock, lifetime, maxEntries } = this.#options
    const now = clock.monotonic()
    const known = this.#entries.get(key)
    if (known && now - known.since < lifetime) return known.value
    this.#entries.delete(key)
    const value = ask()
    const entry = { value, since: now }
    this.#entries.set(key, entry)
    value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    })
    // Entries stand in the order in which they were asked for, so the first is the oldest.
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries) break
      this.#entries.delete(oldest)
    }
    return value
  }
}
