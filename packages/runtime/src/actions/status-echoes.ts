/**
 * Tells the echo of a controller's own status write from changes that others make. The cache shows a write before its
 * writer knows the resulting resourceVersion, so events are held while a write is under way and judged when it ends.
 */
export class StatusEchoes {
  readonly #underWay = new Map<string, string[]>()

  /** A write of the status of `key` is about to be sent. */
  begin(key: string): void {
    this.#underWay.set(key, [])
  }

  isUnderWay(key: string): boolean {
    return this.#underWay.has(key)
  }

  /** A change of the status alone was seen. True: a write is under way, and `end` judges the change. */
  hold(key: string, resourceVersion: string): boolean {
    const held = this.#underWay.get(key)
    held?.push(resourceVersion)
    return held !== undefined
  }

  /** The write ended with this resourceVersion, or failed (undefined). True: a change of another writer was held. */
  end(key: string, resourceVersion: string | undefined): boolean {
    const held = this.#underWay.get(key) ?? []
    this.#underWay.delete(key)
    return held.some((seen) => seen !== resourceVersion)
  }
}
