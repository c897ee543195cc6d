import type { Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import type { Informer, OperatorContext } from '@tenure/runtime'
import { type Claim, claimOf, claimRef } from '../api/claim.ts'
import { CLAIM_SELECTOR, DEFAULT_POOL, LABELS } from '../api/names.ts'
import { TrackedClaim } from './tracked-claim.ts'

const INDEXES = { pool: 'claim-pool', caller: 'claim-caller' } as const

/** The claims of a namespace, as the watch of this process shows them. */
export class ClaimView {
  readonly informer: Informer<ConfigMap>
  readonly #namespace: string
  /** By name of the claim. */
  readonly #tracked = new Map<string, Set<TrackedClaim>>()

  constructor({ informers }: Pick<OperatorContext, 'informers'>, namespace: string) {
    this.#namespace = namespace
    this.informer = informers.informer(ConfigMap, { namespace, labelSelector: CLAIM_SELECTOR })
    this.informer.addIndex(INDEXES.pool, (object) => [object.metadata.labels?.[LABELS.pool] ?? DEFAULT_POOL])
    this.informer.addIndex(INDEXES.caller, ({ metadata }) => listOf(metadata.labels?.[LABELS.caller]))
    this.informer.subscribe(({ object, type }) => {
      const tracked = this.#tracked.get(object.metadata.name)
      if (tracked) for (const each of tracked) each.observe(object, type === 'deleted')
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

  /** Follows a claim from a state that was read or written just now. The caller ends it. */
  track(object: Stored<ConfigMap>): TrackedClaim {
    const { name } = object.metadata
    const all = this.#tracked.get(name) ?? new Set<TrackedClaim>()
    this.#tracked.set(name, all)
    const tracked = new TrackedClaim(object, () => {
      all.delete(tracked)
      if (all.size === 0 && this.#tracked.get(name) === all) this.#tracked.delete(name)
    })
    all.add(tracked)
    const shown = this.informer.cache.get({ name, namespace: this.#namespace })
    if (shown) tracked.observe(shown, false)
    return tracked
  }
}

function claimsIn(objects: readonly Stored<ConfigMap>[]): readonly Claim[] {
  return objects.flatMap((object) => claimOf(object) ?? [])
}

function listOf(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value]
}
