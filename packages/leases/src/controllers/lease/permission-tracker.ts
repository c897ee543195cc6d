import { ApiError, isRefusedAsIs, type Kind, kindKey } from '@tenure/kube'
import { isNamespaceEnding } from '@tenure/runtime'

/** What a keeper does with objects, as rights are named. */
export type TrackedVerb = 'get' | 'patch' | 'delete' | 'create'

/**
 * What stands in the way, for people and for counting. A right that is missing is told until a request that needs it
 * passes; an object that fails counts once, until it succeeds.
 */
export class PermissionTracker {
  readonly #denied = new Map<string, string>()
  readonly #failing = new Set<string>()

  /** The first thing that is not allowed. */
  get problem(): string | undefined {
    for (const problem of this.#denied.values()) return problem
    return undefined
  }

  /** Runs a request, and notes whether we may make it. */
  async watch<R>(kind: Kind, verb: TrackedVerb, request: Promise<R>): Promise<R> {
    const right = `${verb} ${kindKey(kind)}`
    try {
      const result = await request
      this.#denied.delete(right)
      return result
    } catch (error) {
      if (error instanceof ApiError && error.status === 403 && !isNamespaceEnding(error) && !isRefusedAsIs(error)) {
        this.#denied.set(right, `Not allowed to ${verb} ${kindKey(kind)}: grant the verb ${verb} on it. Trying again.`)
      }
      throw error
    }
  }

  /** True if `key` did not fail before. */
  failed(key: string): boolean {
    if (this.#failing.has(key)) return false
    this.#failing.add(key)
    return true
  }

  /** Also when `key` is of no concern any more. With nothing left that fails, nothing is known to stand in the way. */
  succeeded(key: string): void {
    if (this.#failing.delete(key) && this.#failing.size === 0) this.#denied.clear()
  }
}
