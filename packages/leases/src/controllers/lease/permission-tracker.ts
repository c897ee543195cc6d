import { ApiError, isObjectRejected } from '@tenure/kube'
import { isNamespaceTerminating } from '@tenure/runtime'

/** Tracks failing objects, and which of them fail because the controller lacks a permission. */
export class PermissionTracker {
  /** By key; undefined if the object fails for another reason. */
  readonly #failing = new Map<string, string | undefined>()

  /** The first missing permission. */
  get problem(): string | undefined {
    for (const problem of this.#failing.values()) if (problem !== undefined) return problem
    return undefined
  }

  /** Returns true if `key` was not failing before. */
  failed(key: string, error: Error): boolean {
    const isNew = !this.#failing.has(key)
    this.#failing.set(key, missingPermission(error))
    return isNew
  }

  /** Also called when `key` is no longer managed. */
  succeeded(key: string): void {
    this.#failing.delete(key)
  }
}

function missingPermission(error: Error): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 403) return undefined
  if (isNamespaceTerminating(error) || isObjectRejected(error)) return undefined
  const { verb, resource, group } = error.deniedAccess ?? {}
  if (verb === undefined || resource === undefined) return error.message
  return `Not allowed to ${verb} ${resource}${group ? `.${group}` : ''}: grant the verb ${verb} on it. Trying again.`
}
