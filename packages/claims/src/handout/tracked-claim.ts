import { abortReason, compareResourceVersions, type Stored } from '@tenure/kube'
import type { ConfigMap } from '@tenure/kube/kinds'
import { type Claim, claimOf } from '../api/claim.ts'

/** How a wait for a claim ended. */
export type Waited = { readonly claim: Claim } | { readonly gone: true }

/**
 * One claim, followed from a state that its caller knows. The cache alone is not enough: it may not show the claim yet, or
 * no longer, and only a deletion that was seen tells the two apart.
 */
export class TrackedClaim {
  readonly #onEnd: () => void
  readonly #waiting = new Set<() => void>()
  /** Undefined: the claim is gone. */
  #object: Stored<ConfigMap> | undefined

  constructor(object: Stored<ConfigMap>, onEnd: () => void) {
    this.#object = object
    this.#onEnd = onEnd
  }

  /** A state of the object of this name. */
  observe(object: Stored<ConfigMap>, isDeleted: boolean): void {
    const known = this.#object
    if (!known) return
    const isSame = object.metadata.uid === known.metadata.uid
    const isOlder = compareResourceVersions(object.metadata.resourceVersion, known.metadata.resourceVersion) < 0
    // Older states, and the deletion of an earlier object of this name.
    if (isSame ? isOlder && !isDeleted : isDeleted || isOlder) return
    this.#object = isSame && !isDeleted ? object : undefined
    for (const notify of this.#waiting) notify()
  }

  /** Undefined while the claim is neither ready nor failed nor gone. */
  get result(): Waited | undefined {
    const claim = this.#object && claimOf(this.#object)
    if (!claim || claim.isTerminating) return { gone: true }
    return claim.status === 'pending' ? undefined : { claim }
  }

  /** Resolves when the claim is ready or has failed, or when it is gone. Rejects if `signal` aborts. */
  settled(signal: AbortSignal): Promise<Waited> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(notify)
        signal.removeEventListener('abort', onAbort)
      }
      const notify = (): void => {
        const { result } = this
        if (!result) return
        end()
        resolve(result)
      }
      const onAbort = (): void => {
        end()
        reject(abortReason(signal))
      }
      if (signal.aborted) return onAbort()
      this.#waiting.add(notify)
      signal.addEventListener('abort', onAbort, { once: true })
      notify()
    })
  }

  end(): void {
    this.#onEnd()
  }
}
