import { ApiError, isObjectRejected, type Kind, kindKey } from '@tenure/kube'
import { isNamespaceTerminating } from '@tenure/runtime'

/** The verbs that a lease controller uses, as RBAC names them. */
export type TrackedVerb = 'get' | 'patch' | 'delete' | 'create'

/**
 * Tracks missing permissions and failing objects. A missing permission is reported until a request that needs it
 * succeeds; a failing object counts once until it succeeds.
 */
export class PermissionTracker {
  readonly #denied = new Map<string, string>()
  readonly #failing = new Set<string>()

  /** The first missing permission. */
  get problem(): string | undefined {
    for (const problem of this.#denied.values()) return problem
    return undefined
  }

  /** Awaits a request and records whether it was allowed. */
  async watch<R>(kind: Kind, verb: TrackedVerb, request: Promise<R>): Promise<R> {
    const permission = `${verb} ${kindKey(kind)}`
    try {
      const result = await request
      this.#denied.delete(permission)
      return result
    } catch (error) {
      if (
        error instanceof ApiError &&
        error.status === 403 &&
        !isNamespaceTerminating(error) &&
        !isObjectRejected(error)
      ) {
        this.#denied.set(
          permission,
          `Not allowed to ${verb} ${kindKey(kind)}: grant the verb ${verb} on it. Trying again.`,
        )
      }
      throw error
    }
  }

  /** Returns true if `key` was not failing before. */
  failed(key: string): boolean {
    if (this.#failing.has(key)) return false
    this.#failing.add(key)
    return true
  }

  /** Also called when `key` is no longer managed. Once nothing fails, no permission is reported as missing. */
  succeeded(key: string): void {
    if (this.#failing.delete(key) && this.#failing.size === 0) this.#denied.clear()
  }
}
