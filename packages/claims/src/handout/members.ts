import type { Clock } from '@tenure/kube'
import { DueHeap } from '@tenure/runtime'
import { type Claim, claimOf } from '../api/claim.ts'
import { isFailing } from '../controllers/pool/plan.ts'
import type { ClaimView } from './claim-view.ts'

/** After this long the watch has brought the change of a member; if it has not, the member did not change. */
const MAX_STALE_MS = 1_000

/** The members of one revision of a pool that can be handed out, by age. */
interface Candidates {
  readonly ready: DueHeap
  readonly pending: DueHeap
}

/**
 * Chooses members for hand-out. A reservation keeps calls of this process from racing for the same member. Members are
 * kept sorted as the watch shows them, so that a hand-out costs the same in a pool of any size.
 */
export class Members {
  readonly #view: ClaimView
  /** By pool and revision. */
  readonly #candidates = new Map<string, Candidates>()
  /** Where each member is, by id. */
  readonly #places = new Map<string, { readonly group: string; readonly heap: DueHeap }>()
  readonly #reserved = new Set<string>()
  /** Members that have changed although the cache does not show it, and since when: monotonic time. */
  readonly #stale = new Map<string, number>()
  readonly #clock: Clock

  constructor(view: ClaimView, clock: Clock) {
    this.#view = view
    this.#clock = clock
    view.informer.subscribe(({ object, type }) => {
      const claim = claimOf(object)
      if (claim) this.#place(claim, type !== 'deleted')
    })
  }

  /** The oldest member that is ready, else the oldest that is on its way. It is reserved until `free` or `drop` is called. */
  reserve(pool: string, revision: string): Claim | undefined {
    if (this.#stale.size > 0) this.#restoreStale()
    const candidates = this.#candidates.get(groupOf(pool, revision))
    const next = candidates?.ready.next() ?? candidates?.pending.next()
    const claim = next && this.#view.get(next.key)
    if (!claim) return undefined
    this.#reserved.add(claim.id)
    this.#remove(claim.id)
    return claim
  }

  /** The member was not handed out. */
  free({ id }: Claim): void {
    this.#reserved.delete(id)
    const claim = this.#view.get(id)
    if (claim) this.#place(claim, true)
  }

  /** The member has changed: in this state it is not reserved again soon. The watch brings its new state. */
  drop({ id, object }: Claim): void {
    this.#reserved.delete(id)
    const claim = this.#view.get(id)
    if (claim?.object === object) this.#stale.set(id, this.#clock.monotonic())
    else if (claim) this.#place(claim, true)
  }

  #restoreStale(): void {
    const now = this.#clock.monotonic()
    for (const [id, since] of this.#stale) {
      if (now - since < MAX_STALE_MS) continue
      this.#stale.delete(id)
      const claim = this.#view.get(id)
      if (claim) this.#place(claim, true)
    }
  }

  #place(claim: Claim, exists: boolean): void {
    const { id, isIdle, isTerminating, pool, revision, status } = claim
    this.#stale.delete(id)
    const isCandidate = exists && isIdle && !isTerminating && revision !== undefined && !isFailing(claim)
    if (!isCandidate || this.#reserved.has(id)) return this.#remove(id)
    const group = groupOf(pool, revision)
    const candidates = this.#candidates.get(group) ?? { ready: new DueHeap(), pending: new DueHeap() }
    const heap = status === 'ready' ? candidates.ready : candidates.pending
    const place = this.#places.get(id)
    if (place?.heap === heap) return
    if (place) this.#remove(id)
    this.#candidates.set(group, candidates)
    this.#places.set(id, { group, heap })
    heap.set(id, claim.createdAt)
  }

  #remove(id: string): void {
    const place = this.#places.get(id)
    if (!place) return
    this.#places.delete(id)
    place.heap.delete(id)
    const candidates = this.#candidates.get(place.group)
    if (candidates && candidates.ready.size + candidates.pending.size === 0) this.#candidates.delete(place.group)
  }
}

/** A revision has no spaces. */
function groupOf(pool: string, revision: string): string {
  return `${revision} ${pool}`
}
