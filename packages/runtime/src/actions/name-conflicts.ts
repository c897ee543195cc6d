import type { Kind } from '@tenure/kube'

/**
 * Objects that have the name of a child and belong to another controller, and the objects that wait for that name.
 * Without it no one would notice that the name is free: the events of such an object map to its own owner.
 */
export class NameConflicts {
  readonly #waiting = new Map<string, Set<string>>()

  get size(): number {
    return this.#waiting.size
  }

  /** `child` keeps the controller's object `key` from having its own child of that name. */
  note(kind: Kind, child: string, key: string): void {
    const id = conflictId(kind, child)
    const waiting = this.#waiting.get(id)
    if (waiting) waiting.add(key)
    else this.#waiting.set(id, new Set([key]))
  }

  /** `child` is gone or has another controller: returns the keys that waited for its name, once. */
  clear(kind: Kind, child: string): Iterable<string> {
    if (this.#waiting.size === 0) return []
    const id = conflictId(kind, child)
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting ?? []
  }

  /** The controller's object is gone: it waits for no name any more. */
  forget(key: string): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.delete(key) && waiting.size === 0) this.#waiting.delete(id)
    }
  }
}

function conflictId({ group, plural }: Kind, child: string): string {
  return `${group}/${plural}/${child}`
}
