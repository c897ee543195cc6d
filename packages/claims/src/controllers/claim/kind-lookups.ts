import type { Stored } from '@tenure/kube'
import type { ConfigMap } from '@tenure/kube/kinds'
import type { Manifest } from '../../template/types.ts'
import { claimOf } from '../../api/claim.ts'
import { type KnownKinds, readableManifests } from './resources.ts'

/**
 * Kinds that were unknown when the plan of a claim was made, as after a restart. The runtime watches them from the next
 * reconcile on. Until then the children of the claim cannot be read, and its status stays as it is.
 */
export class KindLookups {
  readonly #kinds: KnownKinds
  /** By uid of the claim. */
  readonly #unknown = new Map<string, readonly Manifest[]>()

  constructor(kinds: KnownKinds) {
    this.#kinds = kinds
  }

  /** Call it before each plan. */
  begin(object: Stored<ConfigMap>): void {
    const claim = claimOf(object)
    const unknown = claim ? readableManifests(claim).filter((manifest) => !this.#isKnown(manifest)) : []
    if (unknown.length > 0) this.#unknown.set(object.metadata.uid, unknown)
    else this.#unknown.delete(object.metadata.uid)
  }

  /** Whether a kind of the claim was found since its plan was made. */
  hasFound({ metadata }: Stored<ConfigMap>): boolean {
    return this.#unknown.get(metadata.uid)?.some((manifest) => this.#isKnown(manifest)) ?? false
  }

  #isKnown({ apiVersion, kind }: Manifest): boolean {
    return this.#kinds.known(apiVersion, kind) !== undefined
  }
}
