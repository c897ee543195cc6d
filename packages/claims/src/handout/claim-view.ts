import type { ObjectRef, Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import type { Informer, OperatorContext } from '@tenure/runtime'
import { type Claim, claimOf, claimRef } from '../api/claim.ts'
import { ANNOTATIONS, CLAIM_SELECTOR, DEFAULT_POOL, LABELS } from '../api/names.ts'

const INDEXES = { pool: 'claim-pool', caller: 'claim-caller', idempotencyKey: 'claim-idempotency-key' } as const

/** How a wait for a claim ended. */
export type Waited = { readonly claim: Claim } | { readonly gone: true }

/** The claims of a namespace, as the watch of this process shows them. */
export class ClaimView {
  readonly informer: Informer<ConfigMap>
  readonly #namespace: string
  /** Callbacks by name of the claim. */
  readonly #waiting = new Map<string, Set<(object: Stored<ConfigMap> | undefined) => void>>()

  constructor({ informers }: Pick<OperatorContext, 'informers'>, namespace: string) {
    this.#namespace = namespace
    this.informer = informers.informer(ConfigMap, { namespace, labelSelector: CLAIM_SELECTOR })
    this.informer.addIndex(INDEXES.pool, (object) => [object.metadata.labels?.[LABELS.pool] ?? DEFAULT_POOL])
    this.informer.addIndex(INDEXES.caller, ({ metadata }) => listOf(metadata.labels?.[LABELS.caller]))
    this.informer.addIndex(INDEXES.idempotencyKey, ({ metadata }) =>
      listOf(metadata.annotations?.[ANNOTATIONS.idempotencyKey]?.split('.')[0]),
    )
    this.informer.subscribe((event) => {
      const { name } = event.object.metadata
      for (const notify of this.#waiting.get(name) ?? []) notify(event.type === 'deleted' ? undefined : event.object)
    })
  }

  get(id: string): Claim | undefined {
    const object = this.informer.cache.get(claimRef(this.#namespace, id))
    return object && claimOf(object)
  }

  all(): readonly Claim[] {
    return claimsIn(this.informer.cache.list())
  }

  /** The claims of a pool that are not terminating. */
  ofPool(pool: string): readonly Claim[] {
    return claimsIn(this.informer.cache.byIndex(INDEXES.pool, pool)).filter(({ isTerminating }) => !isTerminating)
  }

  /** The claims that a caller holds. */
  ofCaller(caller: string): readonly Claim[] {
    return claimsIn(this.informer.cache.byIndex(INDEXES.caller, caller)).filter(({ isTerminating }) => !isTerminating)
  }

  /** By the hash of the key. */
  withIdempotencyKey(hash: string): Claim | undefined {
    return claimsIn(this.informer.cache.byIndex(INDEXES.idempotencyKey, hash)).find(
      ({ isTerminating }) => !isTerminating,
    )
  }

  /**
   * Resolves when the claim is ready or has failed, or when it is gone. Starts from `object`, which the cache may not
   * show yet. Rejects if `signal` aborts.
   */
  whenSettled(object: Stored<ConfigMap>, signal: AbortSignal): Promise<Waited> {
    const { name, uid } = object.metadata
    return new Promise((resolve, reject) => {
      const end = (): void => {
        signal.removeEventListener('abort', onAbort)
        const waiting = this.#waiting.get(name)
        waiting?.delete(notify)
        if (waiting?.size === 0) this.#waiting.delete(name)
      }
      const notify = (next: Stored<ConfigMap> | undefined): void => {
        const claim = next?.metadata.uid === uid ? next && claimOf(next) : undefined
        if (claim && !claim.isTerminating && claim.status === 'pending') return
        end()
        resolve(claim && !claim.isTerminating ? { claim } : { gone: true })
      }
      const onAbort = (): void => {
        end()
        reject(signal.reason as Error)
      }
      const waiting = this.#waiting.get(name) ?? new Set()
      this.#waiting.set(name, waiting.add(notify))
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      const { cache } = this.informer
      notify(cache.get({ name, namespace: this.#namespace } satisfies ObjectRef) ?? object)
    })
  }
}

function claimsIn(objects: readonly Stored<ConfigMap>[]): readonly Claim[] {
  return objects.flatMap((object) => claimOf(object) ?? [])
}

function listOf(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value]
}
