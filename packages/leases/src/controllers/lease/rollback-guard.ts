import { keyOf, refTo } from '@tenure/kube'
import { USER_ANNOTATIONS, type LeaseFamily } from '../../api/annotations.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { planLease } from './plan.ts'
import type { Leased } from './context.ts'
import { formatTime } from '../../api/time.ts'

/**
 * Detects leases restored by a rollback. `kubectl rollout undo` gives a Deployment all annotations of an old ReplicaSet:
 * a later extension is lost, or a removed lease returns, and the lease has already expired. A rollback must not delete
 * the object, so such a lease restarts.
 */
export class RollbackGuard {
  /** The user annotations of each restored lease, by key. */
  readonly #leases = new Map<string, string>()

  /** Examines a change of an object. */
  observe(
    key: string,
    { old, object }: { readonly old: Leased; readonly object: Leased },
    settings: Pick<LeaseSettings, 'families'>,
    now: number,
  ): void {
    // Neither this controller nor an extension changes the generation, except that of a Deployment.
    if (object.metadata.generation === old.metadata.generation) return
    // A rollback changes what users wrote. Otherwise this controller wrote the date.
    if (fingerprint(object, settings.families) === fingerprint(old, settings.families)) return
    const { lease } = planLease(object, settings, true, now)
    if (!lease || lease.expireAt > now) return
    const name = lease.family.names.expireAt
    const expireAt = formatTime(lease.expireAt)
    // The date was written by a lease controller, but for an earlier lease.
    const isOurs = object.metadata.annotations?.[name] === expireAt
    if (isOurs && old.metadata.annotations?.[name] !== expireAt)
      this.#leases.set(key, fingerprint(object, settings.families))
  }

  /** Whether the lease of this object was restored and has not been changed since. */
  has(object: Leased, { families }: Pick<LeaseSettings, 'families'>): boolean {
    // The usual case, on the path of every event.
    if (this.#leases.size === 0) return false
    const restored = this.#leases.get(keyOf(refTo(object)))
    return restored !== undefined && restored === fingerprint(object, families)
  }

  forget(key: string): void {
    this.#leases.delete(key)
  }
}

/** The user annotations that determine when a lease starts and ends. */
function fingerprint({ metadata }: Leased, families: readonly LeaseFamily[]): string {
  const names = families.flatMap(({ prefix, start }) =>
    [USER_ANNOTATIONS.ttl, USER_ANNOTATIONS.expires, start].map((name) => prefix + name),
  )
  return JSON.stringify([metadata.uid, ...names.map((name) => metadata.annotations?.[name] ?? null)])
}
