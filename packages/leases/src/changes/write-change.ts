import {
  type Clock,
  isConflict,
  type KubeApi,
  mergePatch,
  metadataOf,
  type PartialObjectMetadata,
  type Stored,
} from '@tenure/kube'
import type { LeaseTarget } from './lease-target.ts'
import type { LeaseChange } from './plan-change.ts'
import { refused } from './terms.ts'

/** Attempts when other clients write the same object at the same time. */
const MAX_ATTEMPTS = 5

export interface LeaseWriteContext {
  readonly api: KubeApi
  readonly clock: Clock
  /** Default: none. */
  readonly signal?: AbortSignal | undefined
}

export interface WrittenLeaseChange extends LeaseChange {
  /** False: the lease was like that already. */
  readonly isChanged: boolean
}

/**
 * Plans a change of a live object's lease and writes it; again if another client writes the object meanwhile. Rejects with
 * a LeaseRefusal if the object is being deleted.
 */
export async function writeLeaseChange(
  { api, clock, signal }: LeaseWriteContext,
  { kind, ref, label }: LeaseTarget,
  plan: (current: Stored<PartialObjectMetadata>, now: number) => LeaseChange,
): Promise<WrittenLeaseChange> {
  for (let attempt = 1; ; attempt++) {
    const { object: current, serverTime } = await api.getLive(metadataOf(kind), ref, { signal })
    const { annotations: before = {}, resourceVersion, deletionTimestamp } = current.metadata
    if (deletionTimestamp !== undefined) throw refused(`${label} is already being deleted: a lease cannot change that.`)
    const change = plan(current, timeOf(serverTime, clock.now()))
    const different = Object.entries(change.changes).filter(([name, value]) => (before[name] ?? null) !== value)
    if (different.length === 0) return { ...change, isChanged: false }
    const annotations = Object.fromEntries(different)
    try {
      await api.patch(metadataOf(kind), ref, mergePatch({ metadata: { resourceVersion, annotations } }), { signal })
      return { ...change, isChanged: true }
    } catch (error) {
      if (!isConflict(error) || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

/**
 * The current time by the server's clock, which decides the expiry; the local clock may be wrong. The server's time has
 * whole seconds, so the local clock is used within that second.
 */
function timeOf(serverTime: number | undefined, ours: number): number {
  return serverTime === undefined ? ours : Math.min(Math.max(ours, serverTime), serverTime + 999)
}
