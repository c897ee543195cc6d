import type { Clock, ObjectRef } from '@tenure/kube'
import { isNotFound } from '@tenure/kube'
import { Lease } from '@tenure/kube/kinds'
import type { OperatorContext } from '@tenure/runtime'

/** Body of `GET /leader`. */
export interface Leadership {
  readonly isLeader: boolean
  /** Identity of this process. */
  readonly self: string
  /** Identity of the leader; null if there is none. */
  readonly identity: string | null
  readonly lease: LeaseView | null
}

export interface LeaseView {
  readonly holderIdentity: string | null
  /** Milliseconds. */
  readonly leaseDuration: number
  readonly acquireTime: string | null
  readonly renewTime: string | null
  readonly leaderTransitions: number
}

/** Time for which requests share one read of the Lease. */
const LEASE_CACHE_MS = 500

/**
 * Reads the leader from the Lease on request. A watch would need more permissions than the election does, and would see
 * a renewal every two seconds.
 */
export class LeadershipReader {
  readonly #context: OperatorContext
  readonly #clock: Clock
  #read: { readonly since: number; readonly isLeader: boolean; readonly lease: Promise<LeaseView | null> } | undefined

  constructor(context: OperatorContext) {
    this.#context = context
    this.#clock = context.clock
  }

  async leadership(): Promise<Leadership> {
    const isLeader = this.#context.isLeader()
    const { lease: ref, process: self } = this.#context.identity
    if (!ref) return { isLeader, self, identity: self, lease: null }
    const lease = await this.#lease(ref, isLeader)
    return { isLeader, self, identity: lease?.holderIdentity ?? null, lease }
  }

  #lease(ref: ObjectRef, isLeader: boolean): Promise<LeaseView | null> {
    const now = this.#clock.monotonic()
    const read = this.#read
    // A change of leadership makes an earlier read stale.
    if (read && read.isLeader === isLeader && now - read.since < LEASE_CACHE_MS) return read.lease
    const { api } = this.#context
    const lease = api
      .get(Lease, ref)
      .then(viewOf)
      .catch((error: unknown) => {
        if (isNotFound(error)) return null
        this.#read = undefined
        throw error
      })
    this.#read = { since: now, isLeader, lease }
    return lease
  }
}

function viewOf({ spec = {} }: Lease): LeaseView {
  return {
    holderIdentity: spec.holderIdentity || null,
    leaseDuration: (spec.leaseDurationSeconds ?? 0) * 1_000,
    acquireTime: spec.acquireTime ?? null,
    renewTime: spec.renewTime ?? null,
    leaderTransitions: spec.leaseTransitions ?? 0,
  }
}
