import type { ResourceRow } from '../../api/rows.ts'
import type { DatabaseLeader } from './controller.ts'

/** The rows as the leader knows them. Other replicas have none, and neither has a leader before its first read. */
export class LeaderRows {
  readonly #listeners = new Set<(id: string) => void>()
  #leader: DatabaseLeader | undefined

  get leader(): DatabaseLeader | undefined {
    return this.#leader
  }

  get(id: string): ResourceRow | undefined {
    return this.#leader?.row(id)
  }

  values(): Iterable<ResourceRow> {
    return this.#leader?.rows ?? []
  }

  /** Undefined: this replica does not lead any more. */
  lead(leader: DatabaseLeader | undefined): void {
    const before = this.values()
    this.#leader = leader
    for (const { id } of before) this.changed(id)
  }

  changed(id: string): void {
    for (const listener of this.#listeners) listener(id)
  }

  /** Calls `listener` with the id of each row that changed or is gone. Returns a function that ends that. */
  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
