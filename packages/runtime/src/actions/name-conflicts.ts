import type { Kind } from '@tenure/kube'

/**
 * Objects that have the name a child should have, and belong to somebody else; and whose child that is. Without this
 * nobody would notice that the name has become free: the events of such an object concern its own owner.
 */
export class Obstacles {
  readonly #waiting = new Map<string, Set<string>>()

  get size(): number {
    return this.#waiting.size
  }

  /** The controller's object `key` can not have its child, because of `child`. */
  note(kind: Kind, child: string, key: string): void {
    const id = obstacleId(kind, child)
    const waiting = this.#waiting.get(id)
    if (waiting) waiting.add(key)
    else this.#waiting.set(id, new Set([key]))
  }

  /** `child` is gone or has changed hands: gives those it was in the way of, once. */
  clear(kind: Kind, child: string): Iterable<string> {
    if (this.#waiting.size === 0) return []
    const id = obstacleId(kind, child)
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting ?? []
  }

  /** The controller's object is gone: nothing is in its way any more. */
  forget(key: string): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.delete(key) && waiting.size === 0) this.#waiting.delete(id)
    }
  }
}

function obstacleId({ group, plural }: Kind, child: string): string {
  return `${group}/${plural}/${child}`
}
