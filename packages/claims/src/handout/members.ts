import type { Claim } from '../api/claim.ts'
import { byAge, isFailing } from '../controllers/pool/plan.ts'
import type { ClaimView } from './claim-view.ts'

/** Chooses members for hand-out. A reservation keeps calls of this process from racing for the same member. */
export class Members {
  readonly #view: ClaimView
  readonly #reserved = new Set<string>()

  constructor(view: ClaimView) {
    this.#view = view
  }

  /** The oldest member that is ready, else the oldest that is on its way. It is reserved until `free` is called. */
  reserve(pool: string, revision: string): Claim | undefined {
    let best: Claim | undefined
    for (const claim of this.#view.ofPool(pool)) {
      if (!claim.isIdle || claim.revision !== revision || isFailing(claim) || this.#reserved.has(claim.id)) continue
      if (best === undefined || isBetter(claim, best)) best = claim
    }
    if (best) this.#reserved.add(best.id)
    return best
  }

  free(claim: Claim): void {
    this.#reserved.delete(claim.id)
  }
}

function isBetter(claim: Claim, other: Claim): boolean {
  if (claim.status !== other.status) return claim.status === 'ready'
  return byAge(claim, other) < 0
}
